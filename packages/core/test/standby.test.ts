import { expect } from 'chai';
import type { RenewerSource, Session } from '../src/backend.ts';
import { systemClock } from '../src/base/clock.ts';
import { Standby } from '../src/session/standby.ts';
import type { CountingRenewerData } from './counting-renewer.ts';

const PROVEN_MS = 60_000;
const PACE = {
  heartbeatIntervalMs: 20,
  responseTimeoutMs: 1_000,
  retryAfterMs: 5,
  longestRetryMs: 20,
  safetyMarginMs: 200,
};
const MAX_WAIT_MS = 30_000;

describe('the heartbeat thread', () => {
  const clock = systemClock();
  const failures: string[] = [];
  let standby: Standby | undefined;

  afterEach(() => standby?.stop());

  function start(
    data: CountingRenewerData,
    {
      module = new URL('counting-renewer.ts', import.meta.url).href,
      options = {},
      functions = {},
    }: Partial<RenewerSource> = {},
  ): Standby {
    failures.length = 0;
    const onFailure = ({ message }: Error): void => void failures.push(message);
    const openedAt = clock.now();
    standby = new Standby(
      { ttlMs: 10_000 } as Session,
      {
        sourceFor: () => ({ module, options, functions, session: data }),
        clock,
        maxBlockedMs: 60_000,
        onFailure,
      },
      { pace: PACE, openedAt, deadline: openedAt + 20_000 },
    );
    return standby;
  }

  /** Blocks this thread, including its event loop, until the condition is true. */
  function block(isTrue: () => boolean): void {
    const cell = new Int32Array(new SharedArrayBuffer(4));
    const end = clock.now() + MAX_WAIT_MS;
    while (!isTrue() && clock.now() < end) Atomics.wait(cell, 0, 0, 2);
    expect(isTrue()).to.equal(true);
  }

  async function untilFailed(): Promise<void> {
    const end = clock.now() + MAX_WAIT_MS;
    while (failures.length === 0 && clock.now() < end) await new Promise((resolve) => setImmediate(resolve));
  }

  it('keeps the session proven while the main thread is blocked', async () => {
    const { deadline: before } = start({ provenMs: PROVEN_MS, failAfter: 2 });
    expect(before).to.equal(0);
    const began = clock.now();
    block(() => standby!.deadline > 0);
    const first = standby!.deadline;
    // Each proof lasts for the TTL of 60 s, minus 1 %, the safety margin and 20 ms for the two clocks, from
    // when its request was sent.
    expect(first).to.be.within(began + 59_180, clock.now() + 59_180);
    block(() => standby!.deadline > first + 20);
    expect(failures).to.deep.equal([]);
    await untilFailed();
    expect(failures[0]).to.match(
      /the heartbeat thread .* failed: .*the store does not answer; heartbeats of the main/,
    );
  });

  it('calls options that are functions in the main thread, and gets buffers as buffers', async () => {
    const key = Buffer.from('key');
    const auth = async (): Promise<object> => ({ name: 'alice', pem: Buffer.from('pem') });
    start({ provenMs: PROVEN_MS, failAfter: 1 }, { options: { key }, functions: { auth } });
    await untilFailed();
    expect(failures[0]).to.match(/logged in as \{"name":"alice",.*with buffers: true,true;/);
  });

  it('reports that the module of its renewer is missing, and can be stopped', async () => {
    start({ provenMs: PROVEN_MS, failAfter: 1 }, { module: 'file:///missing.mjs' });
    await untilFailed();
    expect(failures[0]).to.match(/the heartbeat thread .* failed: it ended: .*missing/);
    await standby!.stop();
  });
});
