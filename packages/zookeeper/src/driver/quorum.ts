import type { ZkDriver } from './driver.ts';

/** The path of a node that never exists. Its parent does not exist either, so no access control list applies. */
export const MISSING_PATH = '/.queuelock/none/none';

/**
 * Sends a write that changes nothing through a quorum. Later reads of this session are at least as recent as any result that any client had
 * received. `sync` does not guarantee that. The leader confirms `sync` alone, even a deposed leader that has not noticed yet, for up to
 * `syncLimit` ticks. A server replies to a write, also one that fails, only after a quorum has it, and the reads of a session wait for its
 * writes. So a deposed leader does not reply, and the client repeats the call on another server.
 *
 * Views, registers and history use `sync`, so their results may be up to `syncLimit` ticks old. A writer that read an outdated register overwrites
 * nothing, because writes go through a quorum and compare the version.
 */
export async function writeThroughQuorum(zk: Pick<ZkDriver, 'delete'>): Promise<void> {
  await zk.delete(MISSING_PATH);
}
