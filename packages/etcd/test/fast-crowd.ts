import { safely } from '@queuelock/conformance';
import type { Session } from '@queuelock/core/backend';
import { expect } from 'chai';
import { eventually } from './clients.ts';
import type { FastBench } from './fast-bench.ts';

/** The sessions whose entries contend for one queue, and the number of holds after which the contention ends. */
export interface CrowdOptions {
  /** The sessions with naming `fast` whose entries contend for the queue. */
  readonly sessions: readonly Session[];
  /** Sessions with naming `go`, each of which enqueues an entry from time to time. */
  readonly visitors: readonly Session[];
  /** The number of holds after which no more entries are enqueued. */
  readonly holds: number;
}

const WORKERS = 40;

/**
 * Enqueues many entries, of which some are cancelled and the others hold. Checks that one holds at a time, in the order of the entries,
 * and that the queue is empty at the end.
 */
export async function holdInOrder(
  bench: FastBench,
  { sessions, visitors, holds }: CrowdOptions,
): Promise<void> {
  const held: bigint[] = [];
  let inside = 0;
  const visit = async (by: Session, turnsToWait: number): Promise<void> => {
    const position = await bench.enter(by);
    const turns = bench.follow(position);
    if (turnsToWait < 5) for (let left = turnsToWait; left > 0; left -= 1) await new Promise(setImmediate);
    else {
      await turns.untilAdmitted();
      held.push(position.placement.order);
      inside += 1;
      safely(() => expect(inside).to.equal(1));
      await new Promise(setImmediate);
      inside -= 1;
    }
    turns.stop();
    expect(await bench.leave(position)).to.equal(true);
  };
  const work = async (by: Session, seed: number): Promise<void> => {
    for (let turn = seed; held.length < holds; turn += 7) await visit(by, turn % 12);
  };
  const comeNowAndThen = async (by: Session): Promise<void> => {
    while (held.length < holds) {
      await visit(by, 5);
      const next = Math.min(held.length + 45, holds);
      await eventually('there were some without it', () => held.length >= next);
    }
  };
  await Promise.all([
    ...Array.from({ length: WORKERS }, (_, i) => work(sessions[i % sessions.length]!, i)),
    ...visitors.map(comeNowAndThen),
  ]);
  safely(() => expect(held).to.deep.equal(held.toSorted((a, b) => (a < b ? -1 : 1))));
  expect(await bench.keys()).to.deep.equal([]);
  const after = await bench.enter(sessions[0]!);
  await bench.follow(after).untilAdmitted();
  await bench.leave(after);
  expect(await bench.tail()).to.equal(undefined);
}
