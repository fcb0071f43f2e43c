import { expect } from 'chai';
import { QueueLockError, anySignal, type AcquireOptions, type LockClient } from '../src/index.ts';
import { workUnder } from '../src/work/work.ts';
import { onStage, rejection } from './stage.ts';

/** Work that runs until its stop signal aborts, and then throws the signal's reason. */
function untilStopped(_hold: unknown, stop: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    stop.addEventListener('abort', () => reject(stop.reason as Error));
  });
}

/** The functions of this package that run a callback under a lock, by name. */
const WAYS: Readonly<Record<string, (client: LockClient) => LockClient['run']>> = {
  run: (client) => client.run.bind(client),
  'multi().run': (client) => (name, work, options) =>
    client.multi([name, 'y']).run((hold, stop) => work(hold.of(name), stop), options),
};

describe('the signal that stops the work of a run', () => {
  for (const [way, of] of Object.entries(WAYS)) {
    it(`aborts at the time limit of the work, and the call of ${way} rejects with WORK_TIMEOUT`, () =>
      onStage(async (stage) => {
        const run = of(stage.client());
        const late = await rejection(stage.passing(run('x', untilStopped, { workTimeoutMs: 500 })));
        expect(late).to.include({ code: 'WORK_TIMEOUT', retryable: false });
        expect(late)
          .to.have.property('message')
          .that.matches(/"x".*signal of the work aborted after 500 ms \(workTimeoutMs\)/);
        expect(await stage.passing(run('x', () => 'next'))).to.equal('next');
      }));

    it(`aborts when the caller's signal aborts, and the call of ${way} rejects with the reason of that signal`, () =>
      onStage(async (stage) => {
        const shutdown = new AbortController();
        const running = of(stage.client())('x', untilStopped, { stop: shutdown.signal });
        await stage.settle();
        shutdown.abort(new Error('down'));
        expect(await rejection(stage.passing(running))).to.equal(shutdown.signal.reason);
        expect(stage.owners('x')).to.deep.equal([]);
      }));

    it(`aborts when the hold is lost, and the call of ${way} rejects with the reason of the loss`, () =>
      onStage(async (stage) => {
        const client = stage.client();
        const running = rejection(of(client)('x', (own, stop) => untilStopped(own, stop).catch(() => 1)));
        await stage.settle();
        await stage.passing(client.close());
        const lost = await running;
        expect(lost).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
        expect(lost)
          .to.have.property('message')
          .that.matches(
            /was lost while the work ran: the client was closed while it held the lock; the work may have had effects$/,
          );
      }));
  }

  it('leaves the lock held until the work has ended, even after the abort', () =>
    onStage(async (stage) => {
      const client = stage.client();
      let end: (() => void) | undefined;
      const stubborn = client.run('x', () => new Promise<void>((done) => (end = done)), {
        workTimeoutMs: 50,
      });
      await stage.clock.advance(1_000);
      expect(await client.tryAcquire('x')).to.equal(undefined);
      end?.();
      await stage.passing(stubborn);
    }));

  it('makes a run reject with WORK_TIMEOUT if the work throws after its time limit', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const failure = new Error('disk full');
      const failing = client.run(
        'x',
        (own, stop) => untilStopped(own, stop).catch(() => Promise.reject(failure)),
        { workTimeoutMs: 50 },
      );
      expect(await rejection(stage.passing(failing))).to.include({ code: 'WORK_TIMEOUT', cause: failure });
      const returning = client.run('x', (own, stop) => untilStopped(own, stop).catch(() => 'done'), {
        workTimeoutMs: 50,
      });
      expect(await stage.passing(returning)).to.equal('done');
    }));

  it('leaves the error of a run unchanged when the work threw it before the signal aborted', () =>
    onStage(async (stage) => {
      const failure = new Error('its own');
      const options = { workTimeoutMs: 50, stop: new AbortController().signal };
      const failing = stage.client().run('x', () => Promise.reject(failure), options);
      expect(await rejection(stage.passing(failing))).to.equal(failure);
    }));

  it('makes a run reject immediately when it aborts while the run waits for the lock', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const holder = await stage.client().acquire('x');
      const shutdown = new AbortController();
      let begun = 0;
      const waiting = rejection(client.run('x', () => void (begun += 1), { stop: shutdown.signal }));
      await stage.settle();
      shutdown.abort(new Error('down'));
      expect(await waiting).to.equal(shutdown.signal.reason);
      await stage.passing(holder.release());
      expect(begun).to.equal(0);
      expect(await rejection(client.run('x', () => begun, { stop: shutdown.signal }))).to.have.property(
        'message',
        'down',
      );
    }));

  it('makes a run reject without starting the work when the signal is already aborted at the grant', () =>
    onStage(async (stage) => {
      const hold = await stage.client().acquire('x');
      const reason = new Error('down');
      const terms = { what: 'it', work: () => expect.fail('it began'), clock: stage.clock };
      expect(await rejection(workUnder(hold, { ...terms, stop: AbortSignal.abort(reason) }))).to.equal(
        reason,
      );
      expect(hold.held).to.equal(false);
    }));

  it('is aborted when code reads it after the time limit or a loss, before any timer has run', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const seen = await client.run(
        'x',
        (_own, stop) => {
          const mine = new AbortController().signal;
          const both = anySignal([stop, mine]);
          const deeper = anySignal([both]);
          const platform = AbortSignal.any([stop]);
          const before = [stop.aborted, both.aborted, deeper.aborted];
          stage.clock.stall(1_000);
          // After the time limit, reading `stop.aborted` aborts the signal `stop`. The signal that
          // `AbortSignal.any` made from `stop` aborts only then, so the test reads it last.
          const after = [deeper.aborted, both.aborted, stop.aborted, platform.aborted];
          expect(() => both.throwIfAborted()).to.throw(QueueLockError, 'WORK_TIMEOUT');
          return { before, after };
        },
        { workTimeoutMs: 500 },
      );
      expect(seen.before).to.deep.equal([false, false, false]);
      expect(seen.after).to.deep.equal([true, true, true, true]);
      const lost = await rejection(
        client.run('x', (_own, stop) => {
          const derived = anySignal([stop]);
          stage.clock.stall(60_000);
          expect(derived.aborted).to.equal(true);
          expect(derived.reason).to.include({ code: 'OWNERSHIP_LOST' });
        }),
      );
      expect(lost).to.include({ code: 'OWNERSHIP_LOST' });
    }));

  it('leaves no timer and no listener once the work has ended', () =>
    onStage(async (stage) => {
      const shutdown = new AbortController();
      const options = { stop: shutdown.signal, workTimeoutMs: 60_000 };
      const client = stage.client();
      let kept: AbortSignal | undefined;
      await client.run('x', (_own, stop) => void (kept = stop), options);
      const timers = stage.clock.timerCount;
      await client.run('x', () => undefined, options);
      expect(stage.clock.timerCount).to.equal(timers);
      shutdown.abort();
      expect(Reflect.get(AbortSignal.prototype, 'aborted', kept!)).to.equal(false);
    }));

  it('can be set by the options stop and workTimeoutMs of run, which acquire() refuses as unknown', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const refused = async (options: object): Promise<unknown> =>
        rejection(client.run('x', () => 1, options));
      expect(await refused({ stop: 5 }))
        .to.have.property('message')
        .that.includes('stop is an AbortSignal; got 5');
      expect(await refused({ workTimeoutMs: 0 }))
        .to.have.property('message')
        .that.includes('workTimeoutMs is');
      expect(await refused({ workTimeout: 1 }))
        .to.have.property('message')
        .that.includes('mean workTimeoutMs?');
      const untyped = { stop: new AbortController().signal } as AcquireOptions;
      expect(await rejection(client.acquire('x', untyped)))
        .to.have.property('message')
        .that.includes('stop is unknown');
    }));
});
