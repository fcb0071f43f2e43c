import { QueueLockError, type LockClient } from '@queuelock/core';
import type { Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import { oncePer, type OncePer } from '../src/index.ts';
import { MemoryStage, TTL_MS, deferred, failureOf } from './election-stage.ts';

const LOST = (): QueueLockError => new QueueLockError('UNAVAILABLE', 'the answer was lost');

describe('oncePer when messages are lost or late', () => {
  let stage: MemoryStage;
  let client: LockClient;
  let report: OncePer;

  beforeEach(() => {
    stage = new MemoryStage();
    client = stage.client();
    report = oncePer(client, 'report', { owner: 'a' });
  });

  afterEach(() => stage.close());

  const untilDone = (owner: string): OncePer =>
    oncePer(stage.client(), 'report', { guarantee: 'at-least-once', owner });

  for (const lost of ['request', 'answer'] as const) {
    it(`does the work of a slot once when every second ${lost} of a register write is lost`, async () => {
      let calls = 0;
      const intercept: Intercept = async (call, proceed) => {
        const isLost = call === 'writeRegister' && ++calls % 2 === 1;
        if (isLost && lost === 'request') throw LOST();
        const response = await proceed();
        if (isLost) throw LOST();
        return response;
      };
      for (const guarantee of ['at-most-once', 'at-least-once'] as const) {
        let works = 0;
        const unlucky = oncePer(stage.client({ backend: { intercept } }), guarantee, { guarantee });
        expect(await unlucky.run(1, () => (works += 1))).to.include({ outcome: 'ran', value: 1 });
        expect(await unlucky.run(1, () => (works += 1))).to.include({ outcome: 'already-done' });
      }
    });
  }

  it('begins no work when the hold is lost while the event loop is blocked', async () => {
    let blockedMs = 0;
    const { clock } = stage;
    const blocked = { ...clock, now: () => clock.now() + blockedMs };
    const intercept: Intercept = async (call, proceed) => {
      const response = await proceed();
      if (call === 'writeRegister') blockedMs = TTL_MS * 2;
      return response;
    };
    const slow = oncePer(stage.client({ clock: blocked, backend: { intercept } }), 'report');
    let works = 0;
    const failure = failureOf(slow.run(1, () => (works += 1)));
    await stage.clock.advance(TTL_MS * 2);
    expect(await failure).to.include({ code: 'OWNERSHIP_LOST' });
    expect(works).to.equal(0);
  });

  it('skips a slot that another client has done even if the notification is late', async () => {
    const held: (() => void)[] = [];
    let isFirstLate = false;
    const deliver = (arrive: () => void): void => {
      if (isFirstLate) held.push(arrive);
      else arrive();
      isFirstLate = false;
    };
    const { promise: end, resolve } = deferred();
    const first = untilDone('a').run(1, () => end);
    await stage.settle();
    const deaf = oncePer(stage.client({ backend: { deliver } }), 'report', { guarantee: 'at-least-once' });
    let works = 0;
    const second = deaf.run(1, () => (works += 1));
    await stage.settle();
    isFirstLate = true;
    resolve();
    await first;
    expect([(await second).outcome, works, held.length]).to.deep.equal(['already-done', 0, 1]);
    for (const arrive of held) arrive();
  });

  it('notes nothing for a call whose signal has aborted', async () => {
    const giving = new AbortController();
    let reads = 0;
    const intercept: Intercept = async (call, proceed) => {
      const response = await proceed();
      if (call === 'readRegister' && ++reads === 2) giving.abort(new Error('given up'));
      return response;
    };
    const mine = oncePer(stage.client({ backend: { intercept } }), 'report');
    const failure = await failureOf(mine.run(1, () => 1, { signal: giving.signal }));
    expect(failure).to.equal(giving.signal.reason);
    await stage.settle();
    expect(await report.latest()).to.equal(undefined);
  });

  for (const guarantee of ['at-most-once', 'at-least-once'] as const) {
    it(`rejects the call when the hold is lost at the moment of the grant (guarantee ${guarantee})`, async () => {
      let blockedMs = 0;
      const { clock } = stage;
      const blocked = { ...clock, now: () => clock.now() + blockedMs };
      const intercept: Intercept = async (call, proceed) => {
        const response = await proceed();
        if (call === 'readRegister' && stage.server.entryCount > 0) blockedMs = TTL_MS * 2;
        return response;
      };
      const slow = stage.client({ clock: blocked, backend: { intercept } });
      let works = 0;
      const failure = failureOf(oncePer(slow, 'report', { guarantee }).run(1, () => (works += 1)));
      await stage.clock.advance(TTL_MS * 2);
      expect(await failure).to.include({ code: 'OWNERSHIP_LOST' });
      expect([works, await report.latest()]).to.deep.equal([0, undefined]);
    });
  }

  it('never overwrites the note of a later holder', async () => {
    const early = untilDone('early');
    const { promise: end, resolve } = deferred();
    const frozen = early.run(9, () => end);
    await stage.settle();
    await client
      .register('report', 'slot')
      .change(() => JSON.stringify({ slot: '1', token: '999999', by: 'later', at: 0 }));
    resolve();
    expect(await failureOf(frozen)).to.include({ code: 'OWNERSHIP_LOST' });
    expect(await report.latest()).to.include({ slot: '1', by: 'later' });
  });
});
