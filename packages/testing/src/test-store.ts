import { AssertionError } from 'node:assert';
import { createMemoryServer, virtualClock, type MemoryServer } from '@queuelock/memory';
import { describeStale, Effects, type EffectOptions, type StaleEffect } from './effects.ts';
import { SimulatedProcess, type TestClient, type TestClientOptions } from './test-client.ts';

/** A lock store in this process. A test moves its time and breaks its connections. */
export interface TestStore extends AsyncDisposable {
  /** The store itself: its queues, entries and sessions. */
  readonly server: MemoryServer;
  /** Time since the store was created, in milliseconds. */
  readonly nowMs: number;
  /** Creates another simulated process with its own lock client. */
  client(options?: TestClientOptions): TestClient;
  /**
   * Lets time pass: heartbeats are sent, timeouts and TTLs end, and promise jobs run in between. First start
   * the calls that need time to pass, then call `advance`. Await these calls together with `advance`, or
   * after it.
   * @param ms time to pass, in milliseconds
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a negative time
   */
  advance(ms: number): Promise<void>;
  /**
   * Returns a function that checks, at each call, that the caller holds its lock, and then calls `fn`. An
   * effect without a valid hold is added to `staleEffects`, and makes `close` throw. Wrap the fakes of
   * outside services: payments, e-mail, databases.
   *
   * The check does not cover an effect that starts before the loss and takes effect after it. Against such
   * late effects, the service that is called has to compare fencing tokens.
   * @param name the name of the effect in reports
   * @param fn the effect itself. Default: a function that does nothing
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
   * Ends all faults, closes all clients, and lets the time pass that they need to close.
   * @throws {AssertionError} when an effect happened without a valid hold
   */
  close(): Promise<void>;
}

/** While clients close, time advances in steps of this length, in milliseconds. */
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
