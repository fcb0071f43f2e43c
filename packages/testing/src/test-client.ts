import { createLockClient, type LockClient, type LockClientOptions } from '@queuelock/core';
import { memory, type MemoryServer } from '@queuelock/memory';
import type { Effects } from './effects.ts';
import { FaultyNetwork, type Network } from './network.ts';
import { ProcessClock } from './process-clock.ts';
import { recordedClient } from './recorded-client.ts';

/** Settings of a test client: those of `createLockClient`, and the latency of its connection. */
export interface TestClientOptions extends Omit<LockClientOptions, 'clock' | 'resume'> {
  /** Time from a request to its reply, in milliseconds of the test store. Default 0. */
  readonly latencyMs?: number;
}

/** A simulated process with a lock client. */
export interface TestClient {
  /** Name of the process in reports: `client1`, `client2`, and so on. */
  readonly id: string;
  /** The lock client that the test passes to the code under test. */
  readonly locks: LockClient;
  readonly network: Network;
  /**
   * Pauses the process as a frozen machine or a long garbage collection does: its timers do not run and no
   * messages reach it, while the time of the store goes on. Promise callbacks that are ready still run.
   */
  pause(): void;
  /**
   * Lets a paused process continue: its timers that are due run now, and messages that were sent to it
   * meanwhile arrive.
   */
  resume(): void;
  /** Ends the process without a release, as `SIGKILL` does. Its entries stay in the store until the TTL has passed. */
  crash(): void;
  /**
   * Ends the session of the client at the store now, as if its TTL had passed. The client learns of the end
   * from the reply to its next request.
   * @returns `false` if the client has no session
   */
  expireSession(): boolean;
}

/** The parts of a test store that its test clients use. */
interface Surroundings {
  readonly server: MemoryServer;
  readonly effects: Effects;
}

export class SimulatedProcess implements TestClient {
  readonly id: string;
  readonly locks: LockClient;
  readonly network: FaultyNetwork;
  readonly #clock: ProcessClock;
  readonly #client: LockClient;
  readonly #server: MemoryServer;
  #sessionId: string | undefined;
  #hasCrashed = false;

  constructor(
    id: string,
    { latencyMs = 0, ...options }: TestClientOptions,
    { server, effects }: Surroundings,
  ) {
    this.id = id;
    this.#server = server;
    this.#clock = new ProcessClock(server.clock);
    this.network = new FaultyNetwork(this.#clock);
    const { intercept, deliver } = this.network;
    const backend = memory({ server, latencyMs, intercept, deliver });
    this.#client = createLockClient(backend, { ...options, clock: this.#clock });
    this.#client.session$.subscribe({
      next: ({ id: session }) => (this.#sessionId = session),
      error: (error: unknown) => {
        throw error;
      },
    });
    this.locks = recordedClient(this.#client, id, effects);
  }

  pause(): void {
    this.#clock.pause();
  }

  resume(): void {
    if (!this.#hasCrashed) this.#clock.resume();
  }

  crash(): void {
    this.#hasCrashed = true;
    this.#clock.crash();
  }

  expireSession(): boolean {
    return this.#sessionId !== undefined && this.#server.expireSession(this.#sessionId);
  }

  /**
   * Ends all simulated faults and closes the client. The promise settles only when the test advances the time
   * of the store.
   */
  async close(): Promise<void> {
    if (this.#hasCrashed) return;
    this.#clock.resume();
    this.network.heal();
    await this.#client.close();
  }
}
