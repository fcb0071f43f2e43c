import {
  watchPosition,
  type PositionedClaimState,
  type LockClient,
  type QueuePosition,
} from '@queuelock/core';
import { expect } from 'chai';
import type { Followed, RecipeFact, Site } from '../frame.ts';

/** Facts about positions in queues. Each fact is true on every store. */
export const placeFacts: readonly RecipeFact[] = [
  {
    title: 'the position of a waiter counts down as entries ahead leave',
    async check(site) {
      const line = [await join(site), await join(site), await join(site)] as const;
      await site.until('it is second', () => position(line[2].states) === 2);
      line[1].stop();
      await site.until('it is next', () => position(line[2].states) === 1);
      line[0].stop();
      await site.until('it holds', () => line[2].states.last?.status === 'held');
    },
  },
  {
    title: "the observed position of another client's entry counts down to 0 as entries ahead leave",
    async check(site) {
      const line = [await join(site), await join(site), await join(site)] as const;
      const place = site.follow(watchPosition(site.client(), site.queue, { id: idIn(line[2].states.last)! }));
      await site.until('two are ahead', () => place.last?.position === 2);
      line[1].stop();
      await site.until('one is ahead', () => place.last?.position === 1);
      line[0].stop();
      await site.until('it holds', () => place.last?.position === 0);
      expect(place.last?.expectedWaitMs).to.equal(0);
      line[2].stop();
      await site.until('it is over', () => place.end === 'complete');
    },
  },
  {
    title: 'the expected wait is computed from hold times that entries announce, or that the waiter assumes',
    async check(site) {
      const client = site.client();
      await client.acquire(site.queue).then((hold) => hold.release());
      await join(site, client);
      const waiter = await join(site);
      await site.until('it is known', () => waitOf(waiter.states) !== undefined);
      expect(waiter.states.last).to.deep.include({ basis: { ...NOTHING, announced: 1 } });
      expect(waitOf(waiter.states)).to.be.within(0, 10_000);
      const third = site.follow(site.client().claimWithPosition(site.queue, { typicalHoldMs: 60_000 }));
      await site.until('it is assumed', () => waitOf(third) !== undefined);
      expect(third.last).to.deep.include({ basis: { ...NOTHING, announced: 1, assumed: 1 } });
      expect(waitOf(third)).to.be.within(60_000, 70_000);
    },
  },
];

const NOTHING = { announced: 0, seen: 0, assumed: 0, unknown: 0 };

interface Member {
  readonly states: Followed<PositionedClaimState>;
  stop(): void;
}

async function join(site: Site, client: LockClient = site.client()): Promise<Member> {
  const states = site.follow(client.claimWithPosition(site.queue));
  await site.until('it is in line', () => idIn(states.last) !== undefined);
  return { states, stop: () => states.stop() };
}

function idIn(state: PositionedClaimState | undefined): string | undefined {
  if (state?.status === 'queued') return state.id;
  return state?.status === 'held' ? state.ownership.id : undefined;
}

function inLine({ last }: Followed<PositionedClaimState>): QueuePosition | undefined {
  return last?.status === 'queued' ? last : undefined;
}

function position(states: Followed<PositionedClaimState>): number | undefined {
  return inLine(states)?.position;
}

function waitOf(states: Followed<PositionedClaimState>): number | undefined {
  return inLine(states)?.expectedWaitMs;
}
