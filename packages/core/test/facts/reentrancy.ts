import { expect } from 'chai';
import { of } from 'rxjs';
import type { Ownership } from '../../src/index.ts';
import { Gate, join, rejection, thrownBy, type CoreFact } from '../stage.ts';

const AGAIN = { reentrant: true };

/**
 * Returns the error code of each rejected promise, and the text `in` for each promise that resolved, in the
 * order of the promises.
 */
async function codesOf(promises: readonly Promise<unknown>[]): Promise<readonly unknown[]> {
  const outcomes = await Promise.allSettled(promises);
  return outcomes.map((outcome) =>
    outcome.status === 'fulfilled' ? 'in' : (outcome.reason as { readonly code: unknown }).code,
  );
}

export const reentrancyFacts: readonly CoreFact[] = [
  {
    title:
      'several calls inside a reentrant hold enter it again one at a time, in their order, also when one of them is cancelled',
    async check(stage) {
      const client = stage.client();
      const outer = await client.acquire('x', AGAIN);
      const abort = new AbortController();
      const entered: string[] = [];
      const enter = async (who: string, signal?: AbortSignal): Promise<Ownership> => {
        const own = await client.acquire('x', { reenter: outer, ...(signal ? { signal } : {}) });
        entered.push(who);
        return own;
      };
      const first = await enter('first');
      const removed = rejection(enter('gone', abort.signal));
      const second = enter('second');
      abort.abort(new Error('enough'));
      expect(await removed).to.include({ message: 'enough' });
      await stage.settle();
      expect(entered, 'the one that gave up lets nobody pass').to.deep.equal(['first']);
      await first.release();
      await (await second).release();
      expect(entered).to.deep.equal(['first', 'second']);
      await stage.passing(outer.release());
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title:
      'a call that waits until another call leaves the same reentrant hold rejects at its timeout, and tryAcquire does not wait',
    async check(stage) {
      const client = stage.client();
      const outer = await client.acquire('x', AGAIN);
      const inner = await client.acquire('x', { reenter: outer });
      const late = rejection(client.acquire('x', { reenter: outer, timeoutMs: 50 }));
      const tried = client.tryAcquire('x', { reenter: outer });
      await stage.clock.advance(50);
      expect(await late).to.include({ code: 'TIMEOUT' });
      expect(await tried).to.equal(undefined);
      await inner.release();
      const next = await stage.passing(client.tryAcquire('x', { reenter: outer }).then((own) => own!));
      expect(next.depth).to.equal(2);
      await next.release();
      await stage.passing(outer.release());
    },
  },
  ...(['the session ends', 'the client closes', 'the entry is removed'] as const).map((how): CoreFact => ({
    title: `all levels of a reentrant hold are lost at one instant when ${how}, and calls that wait inside it reject at once`,
    async check(stage) {
      const client = stage.client();
      const outer = await client.acquire('x', AGAIN);
      const inner = await client.acquire('x', { reenter: outer });
      const innermost = await client.acquire('x', { reenter: inner });
      const waits = [client.acquire('x', { reenter: outer }), client.acquire('x', { reenter: inner })];
      const codes = codesOf(waits);
      const [entry] = stage.server.queues().get('x')!;
      if (how === 'the session ends') stage.server.expireSession(entry!.sessionId);
      else if (how === 'the client closes') void client.close();
      else stage.server.evict(entry!.key);
      await stage.settle();
      const levels = [outer, inner, innermost];
      expect(levels.map(({ held, signal }) => held || !signal.aborted)).to.deep.equal([false, false, false]);
      expect(await stage.passing(codes), 'nobody inside has left').to.deep.equal([
        'OWNERSHIP_LOST',
        'OWNERSHIP_LOST',
      ]);
      for (const level of levels) await stage.passing(level.release());
    },
  })),
  {
    title: 'a reentrant hold is released on the server exactly once, when its last level is released',
    async check(stage) {
      const gate = new Gate('remove');
      const client = stage.client({ link: { intercept: gate.requests } });
      const outer = await client.acquire('x', AGAIN);
      const inner = await client.acquire('x', { reenter: outer });
      const left = Promise.all([outer.release(), outer.release()]);
      await stage.settle();
      expect([outer.held, inner.held, gate.held]).to.deep.equal([false, true, 0]);
      await left;
      let released = false;
      const releasing = inner.release().then(() => (released = true));
      await stage.settle();
      expect([released, gate.held]).to.deep.equal([false, 1]);
      gate.open();
      await stage.passing(releasing);
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title: 'a released level of a reentrant hold rejects every call, and the other levels continue',
    async check(stage) {
      const client = stage.client();
      const outer = await client.acquire('x', AGAIN);
      const inner = await client.acquire('x', { reenter: outer });
      await inner.release();
      expect([inner.held, inner.remainingMs, inner.signal.aborted, outer.held]).to.deep.equal([
        false,
        0,
        false,
        true,
      ]);
      expect(thrownBy(() => inner.throwIfLost())).to.include({ code: 'OWNERSHIP_LOST' });
      const refused = [
        inner.downgrade(),
        inner.update({ metadata: {} }),
        client.acquire('x', { reenter: inner }),
      ];
      expect(await codesOf(refused)).to.deep.equal(['OWNERSHIP_LOST', 'OWNERSHIP_LOST', 'OWNERSHIP_LOST']);
      outer.throwIfLost();
      await stage.passing(outer.release());
    },
  },
  {
    title: 'a call that waits to enter a hold again rejects when that hold is released',
    async check(stage) {
      const client = stage.client();
      const outer = await client.acquire('x', AGAIN);
      const inner = await client.acquire('x', { reenter: outer });
      const waiting = rejection(client.acquire('x', { reenter: outer }));
      await outer.release();
      await inner.release();
      expect(await stage.passing(waiting)).to.include({ code: 'OWNERSHIP_LOST' });
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title:
      'a reentrant hold can be entered only from inside its own run: another run of the same client waits in the queue',
    async check(stage) {
      const client = stage.client();
      let inside!: () => void;
      const done = new Promise<void>((resolve) => (inside = resolve));
      const outer = client.run('x', () => done, AGAIN);
      await stage.settle();
      const other = client.run('x', ({ depth }) => depth, AGAIN);
      await stage.settle();
      expect(stage.server.entryCount).to.equal(2);
      inside();
      await stage.passing(outer);
      expect(await stage.passing(other)).to.equal(1);
    },
  },
  {
    title: "a call inside another client's hold of the same name is not refused as reentrant",
    async check(stage) {
      const [one, two] = [stage.client(), stage.client()];
      const code = await one.run('x', () =>
        two.tryAcquire('x', AGAIN).then((own) => (own === undefined ? 'busy' : 'in')),
      );
      expect(code).to.equal('busy');
    },
  },
  {
    title:
      "inside a semaphore's permit, a claim of more permits waits if they fit the limit, and is refused if it could only wait for itself",
    async check(stage) {
      const [client, other] = [stage.client(), stage.client()];
      const limit = { limit: 3 };
      const refusals = await client.run(
        'x',
        async () => {
          const inner = await client.run('x', () => stage.server.entryCount, limit);
          expect(inner).to.equal(2);
          const conflicting = await other.acquire('x', { ...limit, permits: 1 });
          const more = client.run('x', () => 'in', { ...limit, permits: 2 });
          await stage.settle();
          expect(stage.server.entryCount, 'one of them waits for the other client').to.equal(3);
          await conflicting.release();
          expect(await more).to.equal('in');
          return codesOf([
            client.run('x', () => 0, { ...limit, permits: 3 }),
            client.run('x', () => client.run('x', () => 0, { ...limit, permits: 2 }), limit),
            client.run('x', () => 0),
            client.run('x', () => 0, { limit: of(3) }),
          ]);
        },
        limit,
      );
      expect(refusals).to.deep.equal(['REENTRANT', 'REENTRANT', 'REENTRANT', 'REENTRANT']);
      expect(stage.server.entryCount).to.equal(0);
    },
  },
  {
    title: 'a semaphore hold that is entered again takes its permits once',
    async check(stage) {
      const client = stage.client();
      const limit = { limit: 3, permits: 2 };
      const entered = await client.run(
        'x',
        () =>
          client.run('x', () => client.run('x', () => stage.server.entryCount, { limit: 3 }), {
            ...limit,
            ...AGAIN,
          }),
        { ...limit, ...AGAIN },
      );
      expect(entered).to.equal(2);
    },
  },
  {
    title: 'a multi-lock, or a hold without the option reentrant, cannot be entered again',
    async check(stage) {
      const client = stage.client();
      const plain = await client.acquire('y');
      const other = await client.acquire('z', AGAIN);
      const codes = await client
        .multi(['x'])
        .run(() => codesOf([client.run('x', () => undefined, AGAIN), client.multi(['w', 'x']).acquire()]));
      expect(codes).to.deep.equal(['REENTRANT', 'REENTRANT']);
      for (const reenter of [plain, other])
        expect(String(await rejection(client.acquire('y', { reenter }))))
          .to.include('reenter')
          .and.to.include('a hold of "y" that this client acquired with reentrant: true');
      await stage.passing(Promise.all([plain.release(), other.release()]));
    },
  },
  {
    title: 'a reader can enter its own hold again as a reader, and the hold stays shared',
    async check(stage) {
      const client = stage.client();
      const read = { ...AGAIN, mode: 'shared' } as const;
      const shared = await client.run('x', () => client.run('x', (inner) => inner.shared, read), read);
      expect(shared).to.equal(true);
      const behind = await join(stage, stage.client());
      expect(behind.last.status).to.equal('held');
      behind.subscription.unsubscribe();
    },
  },
];
