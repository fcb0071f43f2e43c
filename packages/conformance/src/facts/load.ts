import { expect } from 'chai';
import type { Client } from '../client.ts';
import { fact, type Fact } from '../fact.ts';
import { expectGrowing } from './line.ts';

const CONNECTIONS = 4;
const CONTENDERS = 3;

/** Facts about many contenders at once. */
export const loadFacts: readonly Fact[] = [
  fact(
    'twelve contenders on four connections are all granted, one at a time, with growing tokens',
    async (stage) => {
      const { rounds = 5 } = stage.harness;
      const tokens: bigint[] = [];
      const contend = async (client: Client): Promise<void> => {
        for (let round = 0; round < rounds; round += 1) {
          const contender = await client.enter();
          await contender.untilAdmitted();
          tokens.push(contender.placement.token);
          expect(await contender.leave()).to.equal(true);
        }
      };
      const clients = await Promise.all(Array.from({ length: CONNECTIONS }, () => stage.client()));
      await Promise.all(
        clients.flatMap((client) => Array.from({ length: CONTENDERS }, () => contend(client))),
      );
      expect(tokens).to.have.length(CONNECTIONS * CONTENDERS * rounds);
      expectGrowing(tokens);
      const watch = await stage.watch();
      expect(await watch.untilFirst()).to.deep.equal([]);
    },
  ),
];
