import { expect } from 'chai';
import { fact, type Fact } from '../fact.ts';
import { enterAll, expectOnlyAdmitted, type ContenderTuple } from './line.ts';

const READER = { shared: true };
const WRITER = { shared: false };

/** Facts about read/write locks. */
export const readWriteFacts: readonly Fact[] = [
  fact('readers hold at the same time, and a writer waits for all of them', async (stage) => {
    const line = await enterAll(stage, READER, READER, WRITER);
    const [first, second, writer] = line as ContenderTuple<3>;
    await expectOnlyAdmitted(stage, line, [first, second]);
    await second.leave();
    await expectOnlyAdmitted(stage, line, [first]);
    await first.leave();
    await expectOnlyAdmitted(stage, line, [writer]);
  }),

  fact('a reader that joins later waits behind a waiting writer', async (stage) => {
    const line = await enterAll(stage, READER, WRITER, READER);
    const [first, writer, later] = line as ContenderTuple<3>;
    await expectOnlyAdmitted(stage, line, [first]);
    await first.leave();
    await expectOnlyAdmitted(stage, line, [writer]);
    await writer.leave();
    await expectOnlyAdmitted(stage, line, [later]);
  }),

  fact('all readers behind a writer are admitted when it leaves, up to the next writer', async (stage) => {
    const line = await enterAll(stage, WRITER, READER, READER, WRITER, READER);
    const [writer, one, two, next, last] = line as ContenderTuple<5>;
    await writer.leave();
    await expectOnlyAdmitted(stage, line, [one, two]);
    await one.leave();
    await two.leave();
    await expectOnlyAdmitted(stage, line, [next]);
    await next.leave();
    await expectOnlyAdmitted(stage, line, [last]);
  }),

  fact(
    'when a waiting writer leaves, the readers behind it are admitted beside the readers that hold',
    async (stage) => {
      const line = await enterAll(stage, READER, WRITER, READER);
      const [first, writer, later] = line as ContenderTuple<3>;
      await expectOnlyAdmitted(stage, line, [first]);
      await writer.leave();
      await expectOnlyAdmitted(stage, line, [first, later]);
    },
  ),
];

const PERMIT = { limit: 3 };

/** Facts about semaphores of three permits. */
export const semaphoreFacts: readonly Fact[] = [
  fact('a semaphore admits as many as it has permits', async (stage) => {
    const line = await enterAll(stage, PERMIT, PERMIT, PERMIT, PERMIT, PERMIT);
    await expectOnlyAdmitted(stage, line, line.slice(0, 3));
  }),

  fact('a permit passes to the next waiter, whichever holder returns it', async (stage) => {
    const line = await enterAll(stage, PERMIT, PERMIT, PERMIT, PERMIT, PERMIT, PERMIT);
    const [a, b, c, d, e, f] = line as ContenderTuple<6>;
    await expectOnlyAdmitted(stage, line, [a, b, c]);
    await b.leave();
    await expectOnlyAdmitted(stage, line, [a, c, d]);
    await d.leave();
    await expectOnlyAdmitted(stage, line, [a, c, e]);
    await a.leave();
    await expectOnlyAdmitted(stage, line, [c, e, f]);
  }),

  fact('a waiter that leaves a semaphore uses up no permit', async (stage) => {
    const line = await enterAll(stage, PERMIT, PERMIT, PERMIT, PERMIT, PERMIT, PERMIT);
    const [a, b, c, d, e, f] = line as ContenderTuple<6>;
    await e.leave();
    await expectOnlyAdmitted(stage, line, [a, b, c]);
    await c.leave();
    await expectOnlyAdmitted(stage, line, [a, b, d]);
    await a.leave();
    await expectOnlyAdmitted(stage, line, [b, d, f]);
    for (const holder of [b, d, f]) expect(await holder.leave()).to.equal(true);
  }),
];
