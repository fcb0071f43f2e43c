import { createLockClient, QueueLockError, type LockClient } from '@queuelock/core';
import { createMemoryServer, memory, type MemoryServer } from '@queuelock/memory';
import { expect } from 'chai';
import { onePerKey, type KeyedJob, type OnePerKeyOptions } from '../src/index.ts';

/** A fake BullMQ job that records its delays. */
class FakeJob implements KeyedJob {
  readonly delays: { readonly byMs: number; readonly token: string | undefined }[] = [];
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }

  moveToDelayed(timestamp: number, token?: string): Promise<void> {
    this.delays.push({ byMs: timestamp - Date.now(), token });
    return Promise.resolve();
  }
}

const options: OnePerKeyOptions<FakeJob> = { key: ({ key }) => key };
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => expect.fail('it resolved'),
    (error: unknown) => error,
  );

describe('the processor that onePerKey returns', () => {
  let server: MemoryServer;
  let locks: LockClient;
  let other: LockClient;

  beforeEach(() => {
    server = createMemoryServer();
    [locks, other] = [createLockClient(memory({ server })), createLockClient(memory({ server }))];
  });
  afterEach(async () => {
    await Promise.all([locks.close(), other.close()]);
    server.close();
  });

  it('passes the job and the ownership to the work, and resolves with its result', async () => {
    const process = onePerKey(locks, options, async (job, { name, token }, stop) => {
      expect(token > 0n && !stop.aborted).to.equal(true);
      return `${job.key} by ${name}`;
    });
    expect(await process(new FakeJob('a'), 'token')).to.equal('a by a');
    const next = await other.tryAcquire('a');
    expect(next?.held).to.equal(true);
  });

  it('delays a job while another job holds its key, and runs jobs of other keys', async () => {
    const hold = await other.acquire('a');
    const delayed: unknown[] = [];
    const process = onePerKey(
      locks,
      { ...options, delayMs: 60_000, onDelayed: (job, { code }) => delayed.push([job.key, code]) },
      ({ key }) => key,
    );
    const job = new FakeJob('a');
    expect(await failureOf(process(job, 'of the worker'))).to.have.property('name', 'DelayedError');
    expect(job.delays).to.have.length(1);
    expect(job.delays[0]).to.include({ token: 'of the worker' });
    expect(job.delays[0]!.byMs).to.be.within(47_000, 60_000);
    expect(delayed).to.deep.equal([['a', 'TIMEOUT']]);
    expect(await process(new FakeJob('b'), 'token')).to.equal('b');
    await hold.release();
    expect(await process(job, 'token')).to.equal('a');
  });

  it('waits for the key for up to `waitMs` before it delays the job', async () => {
    const hold = await other.acquire('a');
    const process = onePerKey(locks, { ...options, waitMs: 60_000 }, ({ key }) => key);
    const job = new FakeJob('a');
    const done = process(job, 'token');
    await hold.release();
    expect([await done, job.delays]).to.deep.equal(['a', []]);
  });

  it('aborts the signal of the work and fails the job when the lock is lost', async () => {
    const process = onePerKey(locks, options, async (_job, _ownership, stop) => {
      const stopped = new Promise((resolve) => stop.addEventListener('abort', resolve));
      await other.acquire('a', { steal: { reason: 'an operator' } });
      await stopped;
      stop.throwIfAborted();
    });
    const job = new FakeJob('a');
    const failure = await failureOf(process(job, 'token'));
    expect(failure).to.include({ code: 'OWNERSHIP_LOST' });
    expect(job.delays).to.deep.equal([]);
  });

  it('fails the job with OWNERSHIP_LOST when the work completes without noticing the loss', async () => {
    const process = onePerKey(locks, options, async (_job, ownership) => {
      await other.acquire('a', { steal: { reason: 'an operator' } });
      const { signal } = ownership;
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
      });
      return 'done';
    });
    expect(await failureOf(process(new FakeJob('a')))).to.include({ code: 'OWNERSHIP_LOST' });
  });

  it('rejects with an error that the work throws, even TIMEOUT or UNAVAILABLE, without delaying the job', async () => {
    for (const error of [
      new Error('x'),
      new QueueLockError('TIMEOUT', 'x'),
      new QueueLockError('UNAVAILABLE', 'x'),
    ]) {
      const job = new FakeJob('a');
      const process = onePerKey(locks, options, () => Promise.reject(error));
      expect(await failureOf(process(job, 'token'))).to.equal(error);
      expect(job.delays).to.deep.equal([]);
    }
  });

  it('delays a job when the store of the locks is unreachable, and passes the reason to onDelayed', async () => {
    const reasons: QueueLockError[] = [];
    const failing = {
      run: () => Promise.reject(new QueueLockError('UNAVAILABLE', 'the store is away')),
    } as unknown as LockClient;
    const process = onePerKey(
      failing,
      { ...options, onDelayed: (_job, why) => reasons.push(why) },
      () => 'x',
    );
    const job = new FakeJob('a');
    expect(await failureOf(process(job, 'token'))).to.have.property('name', 'DelayedError');
    expect([job.delays.length, reasons[0]?.code]).to.deep.equal([1, 'UNAVAILABLE']);
  });

  it('rejects when the key is not a valid lock name, or when BullMQ cannot delay the job', async () => {
    const process = onePerKey(locks, options, () => 'x');
    expect(await failureOf(process(new FakeJob(''), 'token'))).to.include({ code: 'INVALID_ARGUMENT' });
    await other.acquire('a');
    const job = new FakeJob('a');
    const missing = new Error('Missing lock for job 1');
    job.moveToDelayed = () => Promise.reject(missing);
    expect(await failureOf(process(job, 'token'))).to.equal(missing);
  });

  it('aborts the wait for the lock and the work when the worker cancels the job', async () => {
    const cancelled = new Error('cancelled');
    const hold = await other.acquire('a');
    const controller = new AbortController();
    const process = onePerKey(locks, { ...options, waitMs: 60_000 }, async (_job, _ownership, stop) => {
      controller.abort(cancelled);
      stop.throwIfAborted();
    });
    expect(process).to.have.length(3);
    const waiting = process(new FakeJob('a'), 'token', AbortSignal.abort(cancelled));
    expect(await failureOf(waiting)).to.equal(cancelled);
    await hold.release();
    expect(await failureOf(process(new FakeJob('a'), 'token', controller.signal))).to.equal(cancelled);
  });

  const bad: readonly (readonly [options: unknown, message: RegExp])[] = [
    [{}, /key is a function/],
    [{ key: 'customer' }, /key is a function; got "customer"/],
    [{ ...options, delayMs: 0 }, /delayMs is a number of milliseconds from 1 to/],
    [{ ...options, delayMs: Number.NaN }, /delayMs is a/],
    [{ ...options, waitMs: -1 }, /waitMs is a number of milliseconds from 0 to/],
    [{ ...options, delay: 1 }, /delay is unknown, did you mean delayMs\?/],
  ];
  for (const [given, message] of bad)
    it(`rejects an invalid option with an error that names it: ${String(message)}`, () => {
      expect(() => onePerKey(locks, given as never, () => 'x')).to.throw(message);
    });

  it('rejects an argument that is not a lock client, and work that is not a function', () => {
    expect(() => onePerKey({} as never, options, () => 'x')).to.throw(
      /locks is a client that createLockClient returned/,
    );
    expect(() => onePerKey(locks, options, 'x' as never)).to.throw(/work is a function/);
  });
});
