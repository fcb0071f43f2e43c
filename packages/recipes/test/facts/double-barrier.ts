import { expect } from 'chai';
import { doubleBarrier, type DoubleBarrier, type RoundMembership } from '../../src/index.ts';
import type { RecipeFact, Site } from '../frame.ts';

const at = ({ client, queue }: Pick<Site, 'client' | 'queue'>, members: number): DoubleBarrier =>
  doubleBarrier(client(), queue, { members });

export const doubleBarrierFacts: readonly RecipeFact[] = [
  {
    title: 'members of a double barrier begin and end together, round after round',
    async check(site) {
      const barriers = [at(site, 3), at(site, 3), at(site, 3)];
      const rounds = new Set<string>();
      for (let round = 0; round < 3; round++) {
        let inside = 0;
        let leaving = 0;
        const walk = async (barrier: DoubleBarrier): Promise<RoundMembership> => {
          inside += 1;
          const place = await barrier.enter();
          expect(inside, 'all have come').to.equal(3);
          leaving += 1;
          await place.leave();
          expect(leaving, 'all wanted to leave').to.equal(3);
          return place;
        };
        const places = await Promise.all(barriers.map(walk));
        expect(places.map(({ index }) => index).sort()).to.deep.equal([0, 1, 2]);
        rounds.add(places[0]!.round);
        expect(new Set(places.map((place) => place.round)).size).to.equal(1);
      }
      expect(rounds.size).to.equal(3);
      expect(await site.client().register(site.queue, 'round').read(), 'nothing is kept').to.equal(undefined);
    },
  },
  {
    title: 'a member that arrives at a double barrier during a round waits for the next one',
    async check(site) {
      const first = await Promise.all([at(site, 2).enter(), at(site, 2).enter()]);
      let began = 0;
      const next = [at(site, 2), at(site, 2)].map(async (barrier) => {
        const place = await barrier.enter();
        began += 1;
        await place.leave();
      });
      const seen = site.follow(site.client().watch(site.queue));
      await site.until('both wait', () => seen.last?.entries.length === 4);
      void first[0].leave();
      await site.until('one leaves', () =>
        seen.last?.entries.some(({ metadata }) => metadata['phase'] === 'leaving'),
      );
      expect(began).to.equal(0);
      await first[1].leave();
      await Promise.all(next);
    },
  },
  {
    title: 'a member that dies in a double barrier does not keep the other members from leaving',
    async check(site) {
      const line = await site.line();
      const dying = doubleBarrier(line.client({ ttlMs: site.ttlMs }), site.queue, { members: 2 });
      const [survivor, dead] = await Promise.all([at(site, 2).enter(), dying.enter()]);
      line.cut();
      await survivor.leave();
      expect(dead.signal.aborted).to.equal(true);
      await line.mend();
    },
  },
];
