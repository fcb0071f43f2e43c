import type { Step, ZkDriver } from '../driver/driver.ts';
import { PRIVATE_DIRECTORY, privatePath } from '../queue/names.ts';
import { withDirectory } from '../queue/parents.ts';

/**
 * The node to which a session writes its heartbeats. If they were written to an entry, each would trigger the
 * watch of the next waiter.
 */
export interface PrivateNode {
  readonly path: string;
  /**
   * The id of the transaction that created the node. Another process that resumes the session creates the
   * node anew, so the id then differs.
   */
  readonly czxid: bigint;
}

/**
 * Creates the private node. In a resumed session, it replaces the node of the client that had the session
 * before.
 */
export async function createPrivateNode(zk: ZkDriver, root: string): Promise<PrivateNode> {
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

/**
 * Replaces the private node of the session, in one transaction if possible. If the driver has no
 * transactions, the node is missing between the delete and the create. A previous client of the session that
 * sends a heartbeat at that time treats the session as ended.
 */
async function replace(zk: ZkDriver, path: string): Promise<bigint | undefined> {
  if (!zk.multi) {
    await zk.delete(path);
    return undefined;
  }
  const steps: readonly Step[] = [
    { type: 'delete', path },
    { type: 'create', path, text: '', mode: 'ephemeral' },
    // Only the reply to a write contains the id of the transaction, so the transaction includes a write.
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
