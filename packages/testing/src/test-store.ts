import { AssertionError } from 'node:assert';
import { createMemoryServer, virtualClock, type MemoryServer } from '@queuelock/memory';
import { describeStale, Effects, type EffectOptions, type StaleEffect } from './effects.ts';
import { SimulatedProcess, type TestClient, type TestClientOptions } from './test-client.ts';

/** A store in this process, whose time a test moves and whose connections a test breaks. */
export interface TestStore extends AsyncDisposable {
  /** The store itself: its queues, entries and sessions. */
  readonly server: MemoryServer;
  /** Time since the store was made, in milliseconds. */
  readonly nowMs: number;
  /** Makes another simulated process, with a lock client of its own. */
  client(options?: TestClientOptions): TestClient;
  /**
   * Lets time pass: heartbeats are sent, timeouts and TTLs end, and promise jobs run in between. Await it together with calls that need time.
   * @param ms time to pass, in milliseconds
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a negative time
   */
  advance(ms: number): Promise<void>;
  /**
   * Returns a function that checks, at each call, that the code holds its lock, and then calls `fn`. An effect without a valid hold is noted in
   * `staleEffects`, and `close` throws. Wrap what changes the world outside: the fake of a payment, of an e-mail, of a database.
   *
   * It does not cover an effect that begins in time and takes effect after the loss: for that, the resource compares fencing tokens.
   * @param name of the effect in reports
   * @param fn what happens. Default: nothing
   * @example
   * const charge = store.effect('charge', async (cents: number) => bank.charge(cents));
   * await locks.run('account/7', () => charge(500));
   */
  effect<Args extends readonly unknown[], Result = void>(
    name: string,
    fn?: (...args: Args) => Result,
    options?: EffectOptions,
  ): (...args: Args) => Result;
  /** The effects so far that happened without a valid hold, in their order. */
  readonly staleEffects: readonly StaleEffect[];
  /**
   * Ends all faults, closes all clients, and lets the time pass that this takes.
   * @throws {AssertionError} when an effect happened without a valid hold
   */
  close(): Promise<void>;
}

/** Time that passes at once while clients close, in milliseconds. */
const STEP_MS = 100;

/**
 * Returns a store for one test. Close it at the end of the test.
 * @example
 * await using store = createTestStore();
 * const [first, second] = [store.client(), store.client()];
 * const hold = await first.locks.acquire('report');
 * first.network.partition();
 * await store.advance(10_000);
 * expect(hold.held).to.equal(false);
 */
export function createTestStore(): TestStore {
  const clock = virtualClock();
  const server = createMemoryServer({ clock });
  const effects = new Effects(() => clock.now());
  const processes: SimulatedProcess[] = [];

  const close = async (): Promise<void> => {
    const state = { isClosed: false };
    const closing = Promise.all(processes.map((process) => process.close())).finally(() => {
      state.isClosed = true;
    });
    closing.catch(() => undefined);
    while (!state.isClosed) await clock.advance(STEP_MS);
    await closing;
    server.close();
    if (effects.stale.length > 0) throw new AssertionError({ message: describeStale(effects.stale) });
  };

  return {
    server,
    get nowMs() {
      return clock.now();
    },
    client(options = {}) {
      const process = new SimulatedProcess(`client${processes.length + 1}`, options, { server, effects });
      processes.push(process);
      return process;
    },
    advance: (ms) => clock.advance(ms),
    effect<Args extends readonly unknown[], Result = void>(
      name: string,
      fn?: (...args: Args) => Result,
      options: EffectOptions = {},
    ) {
      return (...args: Args): Result => {
        effects.happens(name, options);
        return fn?.(...args) as Result;
      };
    },
    get staleEffects() {
      return [...effects.stale];
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
