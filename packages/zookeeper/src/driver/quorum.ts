import type { ZkDriver } from './driver.ts';

/**
 * The path of a node that never exists. Its parent does not exist either, so a write to it cannot be refused by an access control list.
 */
export const MISSING_PATH = '/.queuelock/none/none';

/**
 * Sends a write that changes nothing, so that later reads of this session show everything that any client has seen before.
 * A server replies to a write, even one that fails, only after a quorum has it. It executes later reads of the session after that. A `sync`
 * is weaker: the leader alone replies to it. A deposed leader that has not noticed its deposition would reply, too, for up to `syncLimit`
 * ticks.
 * Views, registers and the history of a queue use `sync`, so their results may be up to `syncLimit` ticks old. A writer that has read an
 * outdated register still overwrites nothing, because writes go through a quorum and compare the version.
 */
export async function writeThroughQuorum(zk: Pick<ZkDriver, 'delete'>): Promise<void> {
  await zk.delete(MISSING_PATH);
}
