import { expect } from 'chai';
import fc from 'fast-check';
import { isQueueLockError, type LockClient, type Ownership } from '@queuelock/core';
import { until } from './services/until.ts';
import { catchingAll } from './uncaught.ts';
import { MISBEHAVIOURS, UnrulyCalls, type Misbehaviour } from './unruly.ts';

/**
 * Two lock clients of one store that compete for a lock. The client `unruly` accesses the store through a
 * library that misbehaves in the calls that `calls` lists.
 */
export interface UnrulyContest {
  readonly unruly: LockClient;
  readonly honest: LockClient;
  readonly calls: UnrulyCalls;
  readonly rounds: number;
}

const NAME = 'contested';
const RECOVERS_WITHIN_MS = 20_000;

/**
 * Lets both clients acquire one lock again and again, then lets the misbehaving library work normally.
 * Resolves with the violations: two holds at the same time, errors without a code, or a client that does not
 * recover or does not close.
 */
export async function contest({ unruly, honest, calls, rounds }: UnrulyContest): Promise<readonly string[]> {
  const wrong: string[] = [];
  const holds = new Map<string, Ownership>();
  const round = async (who: string, client: LockClient, timeoutMs: number): Promise<void> => {
    try {
      const own = await client.acquire(NAME, { timeoutMs });
      for (const [other, hold] of holds)
        if (other !== who && hold.held && own.held) wrong.push(`${who} holds while ${other} holds`);
      holds.set(who, own);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const released = own.release();
      holds.delete(who);
      await released;
    } catch (error) {
      if (!isQueueLockError(error)) wrong.push(`${who}: ${String(error)}`);
    }
  };
  const watching = unruly.watch(NAME).subscribe({
    error: (error: unknown) => {
      if (!isQueueLockError(error)) wrong.push(`watch: ${String(error)}`);
    },
  });
  const state = { isOver: false };
  const others = (async () => {
    while (!state.isOver) await round('honest', honest, RECOVERS_WITHIN_MS);
  })();
  for (let nth = 0; nth < rounds; nth += 1) await round('unruly', unruly, 500);
  calls.calm();
  // Retries, because the client may detect the loss of its session late, and a wait may end with the error of
  // that loss.
  const recovers = (): Promise<void> => unruly.run(NAME, () => undefined, { timeoutMs: RECOVERS_WITHIN_MS });
  await until(recovers, { what: 'it recovers', withinMs: RECOVERS_WITHIN_MS }).catch((error: unknown) =>
    wrong.push(String(error instanceof Error ? error.cause : error)),
  );
  state.isOver = true;
  await others;
  watching.unsubscribe();
  await Promise.race([
    unruly.close(),
    new Promise<void>((resolve) => setTimeout(resolve, RECOVERS_WITHIN_MS)).then(() =>
      wrong.push('does not close'),
    ),
  ]);
  return wrong;
}

/** Creates two kinds of lock clients of one store: clients whose library misbehaves, and normal clients. */
export interface UnrulyStore {
  /** Creates a client whose library misbehaves as `calls` prescribes. */
  readonly unruly: (calls: UnrulyCalls) => UnrulyClient;
  readonly honest: () => LockClient;
}

/**
 * A lock client, and a function that closes its library for the store. The application has created that
 * library, for instance a pool, and passed it to the lock client.
 */
export interface UnrulyClient {
  readonly locks: LockClient;
  /**
   * Closes the library for the store. Rejects when the lock client has not returned the connections that it
   * took from the library's pool.
   */
  readonly end: () => Promise<void>;
}

const LAST_CALL = 80;
const ROUNDS = 4;

/**
 * Lets a normal client and a client with a misbehaving library compete for a lock. Random lists determine
 * which calls misbehave. Checks that there is no violation. The same seed repeats a run.
 */
export async function survivesEveryScript(
  { unruly, honest }: UnrulyStore,
  options: { readonly seed: number; readonly numRuns: number; readonly examples?: readonly ScriptExample[] },
): Promise<void> {
  const step = fc.tuple(fc.nat(LAST_CALL), fc.constantFrom(...MISBEHAVIOURS));
  const scripts = fc.array(step, { minLength: 1, maxLength: 8 });
  const holds = fc.asyncProperty(scripts, async (script) => {
    const calls = new UnrulyCalls(new Map(script));
    const other = honest();
    const { locks, end } = unruly(calls);
    const uncaught = await catchingAll(async () => {
      const wrong = await contest({ unruly: locks, honest: other, calls, rounds: ROUNDS });
      await Promise.all([other.close(), end()]);
      expect(wrong.join('\n')).to.equal('');
    });
    expect(uncaught.join('\n')).to.equal('');
  });
  const { examples = [], seed, numRuns } = options;
  await fc.assert(holds, { seed, numRuns, examples: examples.map((one) => [[...one]]), endOnFailure: true });
}

/**
 * Acquires a lock with a client, and then lets the client's library reply without sending requests, like a
 * library that was closed or mocked. Resolves with whether the client still considers the lock held when
 * another client is granted it.
 */
export async function holdsWithoutServer({ unruly, honest }: UnrulyStore, reply: unknown): Promise<boolean> {
  const calls = new UnrulyCalls(new Map());
  const other = honest();
  const { locks, end } = unruly(calls);
  const hold = await locks.acquire(NAME);
  const next = other.acquire(NAME, { timeoutMs: RECOVERS_WITHIN_MS });
  calls.replaceBy(reply);
  const granted = await next;
  const holds = hold.held;
  await granted.release();
  await Promise.all([other.close(), locks.close()]);
  await end();
  return holds;
}

/**
 * A list of misbehaving calls that a run tries before the random lists. Each pair is the number of a call and
 * how that call misbehaves.
 */
export type ScriptExample = readonly [nth: number, misbehaviour: Misbehaviour][];
