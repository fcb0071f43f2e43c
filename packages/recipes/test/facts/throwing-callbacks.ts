import { subscribe, tracingChannel, unsubscribe } from 'node:diagnostics_channel';
import { CHANNELS, type LockClient, type Ownership } from '@queuelock/core';
import { expect } from 'chai';
import { Observable, map, throwError } from 'rxjs';
import { catchingAll } from '@queuelock/harness/uncaught';
import { election, oncePer, underLock } from '../../src/index.ts';
import type { RecipeFact, Site } from '../frame.ts';

/** The clients, the queue and the error with which one throwing callback is tested. */
interface Scene extends Pick<Site, 'queue' | 'until'> {
  readonly client: LockClient;
  /** A second client, with a session of its own. */
  readonly other: LockClient;
  readonly failure: Error;
  /** The callback under test. It throws `failure` and counts its calls. */
  readonly fail: () => never;
  /** Returns how often the callback under test was called. */
  readonly count: () => number;
}

/** Uses a client with a callback that throws. Resolves when the callback has thrown and the lock is free. */
type Act = (scene: Scene) => Promise<void>;

/** Callbacks whose exception rejects the call that they were passed to. */
const RETURNED: Readonly<Record<string, Act>> = {
  'the work of run()': async ({ client, queue, fail, failure }) =>
    expectFailure(client.run(queue, fail), failure),
  'the method then() of what the work of run() returns': async ({ client, queue, fail, failure }) =>
    expectFailure(
      // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library
      client.run(queue, () => ({ then: fail })),
      failure,
    ),
  onPosition: async ({ client, other, queue, fail, failure }) => {
    const hold = await other.acquire(queue);
    await expectFailure(client.acquire(queue, { onPosition: fail }), failure);
    await hold.release();
  },
  'a getter of the options': async ({ client, queue, fail, failure }) => {
    const options = Object.defineProperty({}, 'timeoutMs', { get: fail, enumerable: true });
    await expectFailure((async () => client.acquire(queue, options))(), failure);
  },
  'an operator after claim()': async ({ client, queue, fail, failure }) => {
    const state$ = client.claim(queue).pipe(map(({ status }) => (status === 'held' ? fail() : status)));
    await expectFailure(ended(state$), failure);
  },
  'the body of a loop over positions': async ({ client, queue, fail, failure }) => {
    const loop = async (): Promise<void> => {
      for await (const { status } of client.claimWithPosition(queue)) if (status === 'held') fail();
    };
    await expectFailure(loop(), failure);
  },
  'the source of underLock()': async ({ client, queue, fail, failure }) => {
    const source$ = new Observable<never>(fail).pipe(underLock(client, queue));
    await expectFailure(ended(source$), failure);
  },
  'the work of lead()': async ({ client, queue, fail, failure }) => {
    const scheduler = election(client, queue, { value: 'a' });
    await expectFailure(scheduler.lead(fail, { signal: new AbortController().signal }), failure);
  },
  'onEnd of lead()': async ({ client, queue, fail, failure }) => {
    const scheduler = election(client, queue, { value: 'a' });
    const { signal } = new AbortController();
    await expectFailure(
      scheduler.lead(() => undefined, { signal, onEnd: fail }),
      failure,
    );
  },
};

/**
 * Callbacks whose exception no caller can catch. Node reports it as an uncaught exception, as for any event
 * listener.
 */
const REPORTED: Readonly<Record<string, Act>> = {
  'a subscriber of claim()': async ({ client, queue, fail, until, count }) => {
    const state = { status: '' };
    const claim = client.claim(queue).subscribe(({ status }) => {
      state.status = status;
      fail();
    });
    await until('it holds', () => state.status === 'held' && count() > 0);
    claim.unsubscribe();
  },
  'a subscriber of claimWithPosition()': async ({ client, other, queue, fail, until, count }) => {
    const hold = await other.acquire(queue);
    const claim = client.claimWithPosition(queue).subscribe(({ status }) => {
      if (status === 'queued') fail();
    });
    await until('it has its position', () => count() > 0);
    claim.unsubscribe();
    await hold.release();
  },
  'a subscriber of watch()': async ({ client, other, queue, fail, until }) => {
    const failing = client.watch(queue).subscribe(fail);
    const seen: number[] = [];
    const watching = client.watch(queue).subscribe(({ entries }) => seen.push(entries.length));
    const hold = await other.acquire(queue);
    await until('the other subscriber sees the holder', () => seen.at(-1) === 1);
    await hold.release();
    await until('the other subscriber sees the release', () => seen.at(-1) === 0);
    failing.unsubscribe();
    watching.unsubscribe();
  },
  'a subscriber of session$': async ({ client, fail, until, count }) => {
    const session = client.session$.subscribe(fail);
    await until('it has the state', () => count() > 0);
    session.unsubscribe();
  },
  'a subscriber of requests$': async ({ client, other, queue, fail, until, count }) => {
    const hold = await client.acquire(queue);
    const requests = hold.requests$.subscribe(fail);
    const requesting = other.run(queue, () => 'granted', {
      request: { reason: 'maintenance', withinMs: 10_000 },
    });
    await until('the request has arrived', () => count() > 0);
    requests.unsubscribe();
    await hold.release();
    expect(await requesting).to.equal('granted');
  },
  'a listener of the loss': async ({ client, other, queue, fail, until }) => {
    const hold = await client.acquire(queue);
    const seen: unknown[] = [];
    hold.signal.addEventListener('abort', fail);
    hold.signal.addEventListener('abort', () => seen.push(hold.signal.reason));
    await using thief = await other.acquire(queue, { steal: { reason: 'maintenance' } });
    await until('the second listener is called', () => seen.length === 1);
    expect([hold.held, thief.held]).to.deep.equal([false, true]);
  },
  'a subscriber of the diagnostics channels': async ({ client, queue, fail }) => {
    const isOwn = (message: unknown): boolean => (message as { name?: unknown }).name === queue;
    const onMessage = (message: unknown): void => void (isOwn(message) && fail());
    const listeners = { start: onMessage, end: onMessage, asyncStart: onMessage, asyncEnd: onMessage };
    const traced = [CHANNELS.acquire, CHANNELS.hold].map((name) => tracingChannel(name));
    for (const each of traced) each.subscribe({ ...listeners, error: onMessage });
    subscribe(CHANNELS.handover, onMessage);
    try {
      expect(await client.run(queue, () => 'done')).to.equal('done');
    } finally {
      for (const each of traced) each.unsubscribe({ ...listeners, error: onMessage });
      unsubscribe(CHANNELS.handover, onMessage);
    }
  },
};

/** Facts about callbacks that throw. Each fact is true on every store. */
export const throwingCallbackFacts: readonly RecipeFact[] = [
  ...Object.entries(RETURNED).map(([what, act]) =>
    factOf(`an exception of ${what} goes to its caller and breaks no lock`, act, false),
  ),
  ...Object.entries(REPORTED).map(([what, act]) =>
    factOf(`an exception of ${what} is reported each time it is thrown and breaks no lock`, act, true),
  ),
  {
    title: 'the call rejects with the error of the stream that is passed as `limit`',
    async check({ queue, client }) {
      const failure = new Error('no limit today');
      const call = client().acquire(queue, { limit: throwError(() => failure) });
      const error: unknown = await call.catch((reason: unknown) => reason);
      expect([error, (error as Error).cause]).to.include(failure);
    },
  },
  {
    title: 'the call rejects with an exception of `compare` as its cause, and the slot gets no note',
    async check({ queue, client }) {
      const failure = new Error('not comparable');
      const compare = (): never => {
        throw failure;
      };
      const locks = client();
      await oncePer(locks, queue).run('1', () => undefined);
      const refused = await oncePer(locks, queue, { compare })
        .run('2', () => undefined)
        .catch((reason: unknown) => reason);
      expect(refused).to.have.property('code', 'INVALID_ARGUMENT');
      expect(refused).to.have.property('cause', failure);
      expect(await oncePer(locks, queue).run('2', () => 'done')).to.include({ value: 'done' });
      await oncePer(locks, queue).forget();
    },
  },
];

function factOf(title: string, act: Act, isReported: boolean): RecipeFact {
  return {
    title,
    async check(site) {
      const { queue, freshQueue, until } = site;
      const [client, other] = [site.client(), site.client()];
      const failure = new Error('of the caller');
      let count = 0;
      const fail = (): never => {
        count += 1;
        throw failure;
      };
      const states: string[] = [];
      await using guard: Ownership = await client.acquire(freshQueue());
      const session = client.session$.subscribe(({ status }) => states.push(status));
      const uncaught = await catchingAll(() =>
        act({ client, other, queue, until, failure, fail, count: () => count }),
      );
      expect(count).to.be.at.least(1);
      expect(uncaught).to.deep.equal(Array.from({ length: isReported ? count : 0 }, () => failure.stack));
      // Checks that the session, another hold of the client and the queue still work.
      expect(await client.run(queue, () => 'done')).to.equal('done');
      expect(await other.run(queue, () => 'done')).to.equal('done');
      expect([guard.held, ...new Set(states)]).to.deep.equal([true, 'alive']);
      session.unsubscribe();
    },
  };
}

async function expectFailure(call: Promise<unknown>, failure: Error): Promise<void> {
  const error: unknown = await call.then(
    () => 'it has resolved',
    (reason: unknown) => reason,
  );
  expect(error).to.equal(failure);
}

function ended(stream$: Observable<unknown>): Promise<void> {
  return new Promise((resolve, reject) => {
    stream$.subscribe({ error: reject, complete: resolve });
  });
}
