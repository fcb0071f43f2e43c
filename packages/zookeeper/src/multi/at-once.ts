import { QueueLockError } from '@queuelock/core/backend';
import type { Step, ZkDriver } from '../driver/driver.ts';
import { listBehind, newNode, locate } from '../entry/enqueue.ts';
import { privateNodeLost } from '../driver/errors.ts';
import { wasEmptyAt, type Gate } from '../turn/gate.ts';
import { privatePath } from '../queue/names.ts';
import { makeDirectory } from '../queue/parents.ts';
import { settled } from '../base/settled.ts';
import type { Member, SeatedMember } from './together.ts';

/** A driver that can create several entries in one transaction. */
export type AtOnceDriver = ZkDriver & Required<Pick<ZkDriver, 'multi'>>;

/** The entries that one transaction created. */
export interface TakenAtOnce {
  readonly seated: readonly SeatedMember[];
  /** Whether no client was in the gate at that moment. */
  readonly wasGateEmpty: boolean;
}

// The server removes empty containers at any time, so a directory may disappear between its creation and its use.
const ATTEMPTS = 10;

export function doesAtOnce(zk: ZkDriver): zk is AtOnceDriver {
  return zk.multi !== undefined;
}

/**
 * Creates all entries in one transaction and, in the same flight, lists the gate and each queue. The transaction requires that the gate's
 * directory exists. It also writes to the session's private node, because only the reply to a write contains the transaction id. That id is
 * the token of all these entries, and it is compared with the state of the gate.
 */
export async function takeAtOnce(
  zk: AtOnceDriver,
  members: readonly Member[],
  { context, place: gate, signal }: Gate,
): Promise<TakenAtOnce> {
  const ownNode = privatePath(gate.root, zk.sessionId);
  const places = members.map(({ entry }) => entry.place);
  const steps: readonly Step[] = [
    { type: 'check', path: gate.directory },
    { type: 'write', path: ownNode, text: '' },
    ...members.map(({ entry, spec }): Step => ({ type: 'create', ...newNode(entry.place, spec) })),
  ];
  for (let count = 1; count <= ATTEMPTS; count += 1) {
    signal?.throwIfAborted();
    for (const { entry } of members) entry.attempted();
    const [done, inGate, lists] = await Promise.all([
      // Each entry learns its node at once, even if a later step fails.
      zk.multi(steps).then((answer) => {
        const { paths = [], zxid: czxid = 0n } = answer.done ? answer : {};
        for (const [at, { entry }] of members.entries()) {
          const path = paths[at];
          entry.made(path === undefined ? undefined : { path, czxid });
        }
        return answer;
      }),
      zk.list(gate.directory),
      Promise.all(places.map((place) => listBehind(context, place))),
    ]);
    if (done.done) {
      const { paths, zxid: czxid = 0n } = done;
      const seats = members.map(async (member, at) => {
        const made = { path: paths[at] ?? '', czxid };
        const { entry, spec } = member;
        const position = await locate(context, { place: entry.place, spec }, { made, children: lists[at] });
        return { member, position };
      });
      return { seated: await settled(seats), wasGateEmpty: wasEmptyAt(czxid, inGate) };
    }
    if (steps[done.at]?.path === ownNode) throw privateNodeLost(ownNode);
    await settled([gate, ...places].map((place) => makeDirectory(zk, place)));
  }
  throw new QueueLockError(
    'UNAVAILABLE',
    `${places[0]?.directory}, or the directory of a queue beside it, was removed repeatedly during the enqueue`,
  );
}
