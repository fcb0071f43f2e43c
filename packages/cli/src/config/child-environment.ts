import type { Environment } from './file.ts';

/**
 * Environment variables that may contain credentials for the store. The URL of the store may contain a
 * password.
 */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'QUEUELOCK_URL',
  'QUEUELOCK_USER',
  'QUEUELOCK_PASSWORD',
  'QUEUELOCK_PASSWORD_FILE',
]);

/**
 * Returns the environment for a child process, without the variables that may contain credentials for the
 * store.
 */
export function childEnvironment(env: Environment = process.env): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !CREDENTIALS.has(name)));
}
