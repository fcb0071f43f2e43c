import { isQueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import type { RecipeFact } from '../frame.ts';
import { join } from '../join.ts';

const AGAIN = { reentrant: true };

export const reentrancyFacts: readonly RecipeFact[] = [
  {
    title:
      'a call chain that enters its own hold again has the same token, and other clients wait until all its nested calls end',
    async check({ client, queue }) {
      const locks = client();
      const other = {
        place: await Promise.resolve(undefined as Awaited<ReturnType<typeof join>> | undefined),
      };
      const levels = await locks.run(
        queue,
        async (outer) => {
          other.place = await join(client(), queue);
          return locks.run(
            queue,
            (inner) =>
              locks.run(
                queue,
                (innermost) => [outer, inner, innermost].map(({ depth, token }) => ({ depth, token })),
                AGAIN,
              ),
            AGAIN,
          );
        },
        AGAIN,
      );
      expect(levels.map(({ depth }) => depth)).to.deep.equal([1, 2, 3]);
      expect(new Set(levels.map(({ token }) => token)).size).to.equal(1);
      await (await other.place!.held).release();
    },
  },
  {
    title: 'parallel calls inside one hold that enter it again run one after the other',
    async check({ client, queue }) {
      const locks = client();
      const running: string[] = [];
      const log: string[] = [];
      const sibling = (name: string): Promise<void> =>
        locks.run(
          queue,
          async () => {
            running.push(name);
            log.push(running.join('+'));
            await locks.run(queue, () => log.push(`${name} inside`), AGAIN);
            await new Promise((resolve) => setImmediate(resolve));
            running.splice(running.indexOf(name), 1);
          },
          AGAIN,
        );
      await locks.run(queue, () => Promise.all(['a', 'b', 'c'].map(sibling)), AGAIN);
      expect(log).to.deep.equal(['a', 'a inside', 'b', 'b inside', 'c', 'c inside']);
    },
  },
  {
    title: 'a hold from acquire can be entered again from any call chain',
    async check({ client, queue }) {
      const locks = client();
      const outer = await locks.acquire(queue, AGAIN);
      const depth = await locks.run(queue, (inner) => inner.depth, { reenter: outer });
      expect(depth).to.equal(2);
      const straggler = await locks.acquire(queue, { reenter: outer });
      await outer.release();
      expect([outer.held, straggler.held]).to.deep.equal([false, true]);
      expect(await client().tryAcquire(queue)).to.equal(undefined);
      await straggler.release();
      await (await client().acquire(queue)).release();
    },
  },
  {
    title: 'without the option reentrant, a call inside its own hold is rejected immediately',
    async check({ client, queue }) {
      const locks = client();
      for (const [outer, inner] of [
        [{}, {}],
        [{}, AGAIN],
        [AGAIN, {}],
      ]) {
        const error: unknown = await locks
          .run(queue, () => locks.run(queue, () => undefined, inner), outer)
          .catch((refusal: unknown) => refusal);
        expect(isQueueLockError(error, 'REENTRANT')).to.equal(true);
      }
    },
  },
  {
    title: 'a loss ends all levels of a reentrant hold together',
    async check({ line, queue, ttlMs, until }) {
      const cut = await line();
      const locks = cut.client({ ttlMs });
      const outer = await locks.acquire(queue, AGAIN);
      const inner = await locks.acquire(queue, { reenter: outer });
      cut.cut();
      await until('lost', () => !outer.held);
      expect([inner.held, inner.signal.aborted]).to.deep.equal([false, true]);
      await inner.release();
      await outer.release();
      await cut.mend();
    },
  },
];
