import { expect } from 'chai';
import type { EntrySpec } from '@queuelock/core/backend';
import type { Contender } from '../contender.ts';
import { safely } from '../safety.ts';
import type { Stage } from '../stage.ts';

/** A tuple with as many contenders as `Size`. */
export type ContenderTuple<
  Size extends number,
  Places extends Contender[] = [],
> = Places['length'] extends Size ? Places : ContenderTuple<Size, [...Places, Contender]>;

/**
 * Enters one entry for each spec, one after another. Three clients take turns, so the fourth entry belongs to
 * the first client again.
 */
export async function enterAll(
  stage: Stage,
  ...specParts: readonly Partial<EntrySpec>[]
): Promise<Contender[]> {
  const clients = await stage.threeClients();
  const line: Contender[] = [];
  for (const [place, part] of specParts.entries()) {
    const client = clients[place % clients.length] ?? clients[0];
    line.push(await client.enter(part));
  }
  return line;
}

/**
 * Waits until every notification that the store has sent has arrived. Then expects that of the contenders in
 * `all`, exactly those in `expected` are admitted.
 */
export async function expectOnlyAdmitted(
  stage: Stage,
  all: readonly Contender[],
  expected: readonly Contender[],
): Promise<void> {
  for (const contender of expected) await contender.untilAdmitted();
  for (const queue of new Set(all.map((one) => one.queue))) await stage.settle(queue);
  const places = (some: readonly Contender[]): number[] => some.map((one) => all.indexOf(one));
  expect(places(all.filter((one) => one.admitted && !one.leaving))).to.deep.equal(places(expected));
}

/** Expects that each number is larger than the one before it. */
export function expectGrowing(numbers: readonly bigint[]): void {
  const fallen = numbers.filter((number, place) => number <= (numbers[place - 1] ?? -1n));
  safely(() => expect(fallen, `not greater than the one before, of ${numbers.join()}`).to.deep.equal([]));
}

/** Expects that these queues have no entries, and that the store has no data of them. */
export async function expectNothingLeft(stage: Stage, ...queues: readonly string[]): Promise<void> {
  for (const queue of queues) {
    const watch = await stage.watch(queue);
    await watch.untilKeys();
    watch.stop();
    expect((await stage.harness.entries?.(queue)) ?? [], queue).to.deep.equal([]);
  }
}
