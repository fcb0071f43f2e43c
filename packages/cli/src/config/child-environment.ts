import type { Environment } from './file.ts';

/** Variables that say how to log in to the store, or may: a URL can have a password. */
const CREDENTIALS: ReadonlySet<string> = new Set([
  'QUEUELOCK_URL',
  'QUEUELOCK_USER',
  'QUEUELOCK_PASSWORD',
  'QUEUELOCK_PASSWORD_FILE',
]);

/** The environment of a process that this one starts: without what says how to log in to the store. */
export function childEnvironment(env: Environment = process.env): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !CREDENTIALS.has(name)));
}
