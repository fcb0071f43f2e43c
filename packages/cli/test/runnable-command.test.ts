import { createLockClient, type LockClient } from '@queuelock/core';
import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { currentQueue } from '../src/current-queue.ts';
import { EXIT } from '../src/exit-codes.ts';
import { RunnableCommand } from '../src/run/command.ts';
import { heldUntil, type Held } from '../src/run/term.ts';

describe('a command whose lock is lost', () => {
  let locks: LockClient;
  let notes: string[];

  beforeEach(() => {
    locks = createLockClient(memory());
    notes = [];
  });
  afterEach(() => locks.close());

  async function hold(name: string): Promise<Held> {
    const ownership = await locks.acquire(name);
    return heldUntil(ownership, () => ownership.release());
  }

  async function evict(name: string): Promise<void> {
    const { signal } = new AbortController();
    const [entry] = (await currentQueue(locks, name, { signal })).entries;
    await locks.evict(name, entry!, { reason: 'maintenance' });
  }

  function runnable(onLoss: 'stop' | 'continue', command: readonly string[]): RunnableCommand {
    return new RunnableCommand({
      command,
      graceMs: 100,
      onLoss,
      env: {},
      passCredentials: false,
      session$: locks.session$,
      note: (line) => notes.push(line),
    });
  }

  for (const onLoss of ['stop', 'continue'] as const) {
    it(`is not started when the lock was lost before the start (--on-loss ${onLoss})`, async () => {
      const held = await hold('job');
      await evict('job');
      const command = runnable(onLoss, ['false']);
      expect(await command.work(held, () => undefined)).to.equal(EXIT.lost);
      command.close();
      expect(notes).to.have.lengthOf(1);
      expect(notes[0]).to.match(/OWNERSHIP_LOST.* removed .*; did not start the command$/);
    });
  }

  it('continues after a loss during its start with --on-loss continue, and the loss is printed', async () => {
    const loss = new AbortController();
    const held: Held = {
      name: 'job',
      key: 'job',
      token: 1n,
      signal: loss.signal,
      get remainingMs() {
        return loss.signal.aborted ? 0 : 10_000;
      },
      release: () => Promise.resolve(),
    };
    const command = runnable('continue', ['sleep', '0']);
    // The command calls this listener as soon as its program runs. The listener ends the hold then.
    const onSignal = (): void => loss.abort(new Error('lost'));
    expect(await command.work(held, onSignal)).to.equal(EXIT.lost);
    expect(notes).to.deep.equal([
      'the lock is lost; the command continues, and only its fencing token can reject its writes',
    ]);
  });
});
