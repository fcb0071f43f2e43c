import { once, type EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import type { NpmZookeeperSession } from '@queuelock/fencing';

/** A session of the npm package zookeeper, as an application opens it for its own data. */
export interface ZnodeSession extends NpmZookeeperSession, EventEmitter {
  init(config: { connect: string; timeout: number; debug_level: number }): void;
  close(): void;
  a_create(path: string, data: Buffer, flags: number, done: (code: number) => void): number;
}

const Session = createRequire(import.meta.url)('zookeeper') as new () => ZnodeSession;
// Session timeout in milliseconds, the longest that a server with a tick of 500 ms grants.
const TIMEOUT_MS = 10_000;

export async function openSession(endpoint: string): Promise<ZnodeSession> {
  const session = new Session();
  const connected = once(session, 'connect');
  session.init({ connect: endpoint, timeout: TIMEOUT_MS, debug_level: 0 });
  await connected;
  await new Promise(setImmediate);
  return session;
}

export async function createNode(session: ZnodeSession, path: string, data: Buffer): Promise<void> {
  const code = await new Promise<number>((resolve) => {
    session.a_create(path, data, 0, (result) => setImmediate(resolve, result));
  });
  if (code !== 0) throw new Error(`the creation of ${path} ended with ${String(code)}`);
}
