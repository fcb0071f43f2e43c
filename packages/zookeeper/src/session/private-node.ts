import type { Step, ZkDriver } from '../driver/driver.ts';
import { PRIVATE_DIRECTORY, privatePath } from '../queue/names.ts';
import { withDirectory } from '../queue/parents.ts';

/** The node on which a session's heartbeats are written: on an entry they would wake the next waiter. */
export interface PrivateNode {
  readonly path: string;
  /** Tells whose it is: where another process goes on with the session, the node has been made anew. */
  readonly czxid: bigint;
}

/** Makes it, in place of the one of whoever had the session before. */
export async function takePrivateNode(zk: ZkDriver, root: string): Promise<PrivateNode> {
  const path = privatePath(root, zk.sessionId);
  const make = async (): Promise<bigint | undefined> => {
    for (;;) {
      const created = await zk.create(path, '', 'ephemeral');
      if (created.path === undefined && created.reason === 'no-parent') return undefined;
      const czxid = created.path === undefined ? await replace(zk, path) : await numberOf(zk, created);
      if (czxid !== undefined) return czxid;
    }
  };
  const directory = `${root}/${PRIVATE_DIRECTORY}`;
  return { path, czxid: await withDirectory(zk, { root, directory }, make) };
}

/** At once where that is possible: whoever had the session finds none in between, and takes that for the end of the session. */
async function replace(zk: ZkDriver, path: string): Promise<bigint | undefined> {
  if (!zk.multi) {
    await zk.delete(path);
    return undefined;
  }
  const steps: readonly Step[] = [
    { type: 'delete', path },
    { type: 'create', path, text: '', mode: 'ephemeral' },
    // Whose answer tells the number of the transaction.
    { type: 'write', path, text: '' },
  ];
  const done = await zk.multi(steps);
  return done.done ? done.zxid : undefined;
}

async function numberOf(
  zk: ZkDriver,
  { path, czxid }: { readonly path: string; readonly czxid?: bigint },
): Promise<bigint | undefined> {
  return czxid ?? (await zk.stat(path))?.czxid;
}
