import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';

/** The permission bits of ZooKeeper's access control lists (`Perms`). */
export const PERMISSION = { read: 1, write: 2, create: 4, delete: 8, admin: 16, all: 31 } as const;

export interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Grants all permissions on a node to one user, and none to others. */
export function reserveFor(server: string, path: string, { username, password }: Credentials): Promise<void> {
  const hash = createHash('sha1').update(`${username}:${password}`).digest('base64');
  return setAcl(server, path, { perms: PERMISSION.all, scheme: 'digest', auth: `${username}:${hash}` });
}

/** Grants all clients the permissions `perms` on a node, and the permission to administer it. */
export function allowAll(server: string, path: string, perms: number): Promise<void> {
  return setAcl(server, path, { perms: perms + PERMISSION.admin, scheme: 'world', auth: 'anyone' });
}

/** Sets the access control list of a node with the npm package, since this package has no such call. */
async function setAcl(server: string, path: string, entry: object): Promise<void> {
  const ZooKeeper = createRequire(import.meta.url)('zookeeper') as new (config: object) => RawClient;
  const raw = new ZooKeeper({ connect: server, timeout: 4_000 });
  await new Promise((resolve) => raw.connect({}, resolve));
  await new Promise((resolve) => setImmediate(() => raw.a_set_acl(path, -1, [entry], resolve)));
  await new Promise((resolve) => setImmediate(resolve));
  raw.close();
}

interface RawClient {
  connect(options: object, done: (error: unknown) => void): void;
  a_set_acl(path: string, version: number, acl: readonly object[], done: (code: number) => void): number;
  close(): void;
}
