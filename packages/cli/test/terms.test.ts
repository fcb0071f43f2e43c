import { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { Failure } from '../src/failure.ts';
import type { Held } from '../src/run/term.ts';
import { backoffDelay, runTerms, type Terms } from '../src/run/terms.ts';
import { Stopped, type Stop } from '../src/stop.ts';

/**
 * A fake of the object that handles signals of the operating system. The test calls `receive` to send it a
 * signal.
 */
function testStop(): Stop & { receive: (signal: NodeJS.Signals) => void } {
  const stop = new AbortController();
  let stopped: Stopped | undefined;
  let listener: ((signal: NodeJS.Signals) => void) | undefined;
  return {
    signal: stop.signal,
    request(reason) {
      stopped = reason;
      stop.abort(reason);
    },
    get exitCode() {
      return stopped?.exitCode;
    },
    divert(other) {
      listener = other;
      return () => (listener = undefined);
    },
    receive: (signal) => listener?.(signal),
  };
}

const lost = (code: 'UNAVAILABLE' | 'OWNERSHIP_LOST' | 'ACCESS_DENIED'): Promise<Held> =>
  Promise.reject(new QueueLockError(code, 'no'));

describe('the holds under which queuelock runs a command', () => {
  let log: string[];
  let notes: string[];
  let stop: ReturnType<typeof testStop>;
  const held = (): Held => ({
    name: 'n',
    key: 'k',
    token: 1n,
    signal: new AbortController().signal,
    remainingMs: 1,
    release: async () => {
      log.push('released');
    },
  });
  const run = (codes: readonly number[], changes: Partial<Terms> = {}): Promise<number> => {
    const left = [...codes];
    return runTerms({
      acquire: () => Promise.resolve(held()),
      work: async () => {
        const code = left.shift()!;
        log.push(String(code));
        return code;
      },
      keep: true,
      stop,
      note: (line) => notes.push(line),
      ...changes,
    });
  };

  beforeEach(() => {
    log = [];
    notes = [];
    stop = testStop();
  });

  it('consist of a single hold without --keep, whether the command succeeds or fails', async () => {
    expect(await run([75, 0], { keep: false })).to.equal(75);
    expect(log).to.deep.equal(['75', 'released']);
  });

  it('follow one another with --keep after losses and failures, until the command succeeds', async () => {
    expect(await run([75, 1, 0])).to.equal(0);
    expect(log).to.deep.equal(['75', 'released', '1', 'released', '0', 'released']);
    expect(notes.map((note) => note.replace(/in 0\.\d+ s/, 'in a while'))).to.deep.equal([
      'the lock was lost; joins the queue again in a while (--keep)',
      'the command ended with code 1; joins the queue again in a while (--keep)',
    ]);
  });

  it('end when queuelock receives a signal, which is passed to the command', async () => {
    const heard: string[] = [];
    const work: Terms['work'] = async (_held, onSignal) => {
      stop.receive('SIGTERM');
      onSignal((signal) => heard.push(signal));
      stop.receive('SIGINT');
      return 143;
    };
    expect(await run([], { work })).to.equal(143);
    expect({ heard, log }).to.deep.equal({ heard: ['SIGTERM', 'SIGINT'], log: ['released'] });
  });

  it('continue with --keep after an acquisition failed by an outage, and end after ACCESS_DENIED', async () => {
    const responses = [
      () => lost('UNAVAILABLE'),
      () => lost('OWNERSHIP_LOST'),
      () => Promise.resolve(held()),
      () => lost('ACCESS_DENIED'),
    ];
    const ending = run([1], { acquire: () => responses.shift()!() });
    await ending.catch((error: unknown) => expect(error).to.have.property('code', 'ACCESS_DENIED'));
    expect(log).to.deep.equal(['1', 'released']);
  });

  it('end with a release of the lock when the command cannot be started', async () => {
    const work = (): Promise<number> => Promise.reject(new Failure('no such program', { exitCode: 127 }));
    const error = await run([], { work }).catch((reason: unknown) => reason);
    expect(error).to.have.property('exitCode', 127);
    expect(log).to.deep.equal(['released']);
  });

  it('end when a signal requests a stop during the backoff between two holds', async () => {
    const note = (): void => {
      stop.request(new Stopped('SIGTERM', 143));
    };
    expect(await run([1, 0], { note })).to.equal(143);
    expect(log).to.deep.equal(['1', 'released']);
  });

  it('follow one another after failures with a backoff that grows to 30 s', () => {
    const failures = [0, 1, 2, 5, 20];
    expect(failures.map((n) => backoffDelay(n, 0))).to.deep.equal([100, 200, 400, 3_200, 30_000]);
    expect(failures.map((n) => backoffDelay(n, 1))).to.deep.equal([50, 100, 200, 1_600, 15_000]);
  });
});
