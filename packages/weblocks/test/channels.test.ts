import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { memory } from '@queuelock/memory';
import { createLockManager, type LockManager } from '@queuelock/weblocks';
import { expect } from 'chai';
import { hold } from './frame.ts';

const KINDS = ['start', 'grant', 'miss', 'end'];

describe('diagnostics channels for web locks', () => {
  let reports: [string, unknown][];
  let locks: LockManager;
  const listeners = KINDS.map((kind) => ({
    channel: `locks.request.${kind}`,
    listen: (message: unknown) => void reports.push([kind, message]),
  }));

  beforeEach(() => {
    reports = [];
    locks = createLockManager(memory());
    for (const { channel, listen } of listeners) subscribe(channel, listen);
  });

  afterEach(async () => {
    for (const { channel, listen } of listeners) unsubscribe(channel, listen);
    await locks.close();
  });

  const end = (more: object = {}): object => ({
    name: 'jobs',
    mode: 'exclusive',
    steal: false,
    ifAvailable: false,
    error: undefined,
    ...more,
  });

  it('publish the start, the grant and the end of a request', async () => {
    await locks.request('jobs', { mode: 'shared' }, () => reports.push(['callback', {}]));
    expect(reports).to.deep.equal([
      ['start', { name: 'jobs', mode: 'shared' }],
      ['grant', { name: 'jobs', mode: 'shared' }],
      ['callback', {}],
      ['end', end({ mode: 'shared' })],
    ]);
  });

  it('publish the event miss instead of a grant when the lock is not available', async () => {
    const holding = await hold(locks, 'jobs');
    reports = [];
    await locks.request('jobs', { ifAvailable: true }, () => undefined);
    expect(reports).to.deep.equal([
      ['start', { name: 'jobs', mode: 'exclusive' }],
      ['miss', { name: 'jobs', mode: 'exclusive' }],
      ['end', end({ ifAvailable: true })],
    ]);
    await holding.end();
  });

  it('publish the error with which a request was rejected', async () => {
    const error = new Error('of the callback');
    await locks
      .request('jobs', () => {
        throw error;
      })
      .catch(() => undefined);
    const robbed = await hold(locks, 'jobs');
    robbed.result.catch(() => undefined);
    const controller = new AbortController();
    const waiting = locks.request('jobs', { signal: controller.signal }, () => undefined);
    controller.abort(error);
    await waiting.catch(() => undefined);
    await locks.request('jobs', { steal: true }, () => undefined);
    const ends = reports
      .filter(([kind]) => kind === 'end')
      .map(([, message]) => message as { error: unknown });
    expect(
      ends.map((message) => message.error === error || (message.error as Error | undefined)?.name),
    ).to.deep.equal([true, true, 'AbortError', undefined]);
    expect(ends.at(-1)).to.deep.equal(end({ steal: true }));
  });

  it('publish nothing for a request with invalid arguments', async () => {
    await locks.request('-', () => undefined).catch(() => undefined);
    expect(reports).to.deep.equal([]);
  });
});
