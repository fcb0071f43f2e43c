import type { ClaimState, LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { placeOf, type Place } from '../../src/index.ts';
import type { Followed, RecipeFact, Site } from '../frame.ts';

/** What is true of places in queues on every store. */
export const placeFacts: readonly RecipeFact[] = [
  {
    title: 'a place counts down to 0 while those ahead leave, and ends with the entry',
    async check(site) {
      const line = [await join(site), await join(site), await join(site)] as const;
      const place = site.follow(placeOf(site.client(), site.queue, { id: line[2].id }));
      await site.until('two are ahead', () => position(place) === 2);
      line[1].stop();
      await site.until('one is ahead', () => position(place) === 1);
      line[0].stop();
      await site.until('it holds', () => position(place) === 0);
      expect((place.last as { expectedWaitMs?: number }).expectedWaitMs).to.equal(0);
      line[2].stop();
      await site.until('it is over', () => place.end === 'complete');
    },
  },
  {
    title: 'the expected wait comes from what others have held, as they say or as was seen',
    async check(site) {
      const client = site.client();
      await client.run(site.queue, () => site.until('a while', () => true));
      const [holder, waiter] = [await join(site, client), await join(site)];
      const place = site.follow(placeOf(site.client(), site.queue, { id: waiter.id }));
      await site.until('it is known', () => expectedMs(place) !== undefined);
      expect(place.last).to.deep.include({ basis: { announced: 1, seen: 0, unknown: 0 } });
      expect(expectedMs(place)).to.be.within(0, 10_000);
      holder.stop();
      waiter.stop();
      await site.until('it is over', () => place.end === 'complete');
    },
  },
  {
    title: 'a claim that waits can follow its own place from the state `queued` on',
    async check(site) {
      const holder = await join(site);
      const client = site.client();
      const waiter = await join(site, client);
      const place = site.follow(placeOf(client, site.queue, { id: waiter.id }));
      await site.until('it is next', () => position(place) === 1);
      holder.stop();
      await site.until('it holds', () => waiter.states.last?.status === 'held');
      await site.until('it sees so', () => position(place) === 0);
    },
  },
];

interface Member {
  readonly id: string;
  readonly states: Followed<ClaimState>;
  stop(): void;
}

async function join(site: Site, client: LockClient = site.client()): Promise<Member> {
  const states = site.follow(client.claim(site.queue));
  await site.until('it is in line', () => idIn(states.last) !== undefined);
  return { id: idIn(states.last)!, states, stop: () => states.stop() };
}

function idIn(state: ClaimState | undefined): string | undefined {
  if (state?.status === 'queued') return state.id;
  return state?.status === 'held' ? state.ownership.id : undefined;
}

function position({ last }: Followed<Place>): number | undefined {
  return last?.status === 'live' ? last.position : undefined;
}

function expectedMs({ last }: Followed<Place>): number | undefined {
  return last?.status === 'live' ? last.expectedWaitMs : undefined;
}
