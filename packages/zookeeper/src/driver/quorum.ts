import type { ZkDriver } from './driver.ts';

/** Where nothing is, and nothing may be made: its parent is not there either, so that no access list has a say. */
export const NOWHERE = '/.queuelock/none/none';

/**
 * Changes nothing, through a quorum: what this session reads after it is no older than whatever was answered to anybody before.
 * `sync` does not promise that: the leader answers it alone, also one that was deposed and has not noticed, as it does for up to
 * `syncLimit` ticks. A change is only answered when a quorum has it, also one that fails; and the reads of a session wait for its
 * changes. So on such a leader nothing is answered, and the call is repeated elsewhere.
 *
 * Views, registers and history go by `sync`: what they show may be as old as that. A register that was read too old is not written,
 * since writes go through a quorum, and by the version.
 */
export async function throughQuorum(zk: Pick<ZkDriver, 'delete'>): Promise<void> {
  await zk.delete(NOWHERE);
}
