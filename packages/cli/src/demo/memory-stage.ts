import {
  QueueLockError,
  createLockClient,
  type Backend,
  type LockClient,
  type Ownership,
} from '@queuelock/core';
import { contend } from '../contend/contend.ts';
import type { ContendEvent } from '../contend/event.ts';
import { later, type Actor, type ContenderScript, type Stage, type StageSettings } from './stage.ts';

const TTL_MS = 2_000;
const GAP_MS = 50;

/** Function that intercepts a request to the server in memory. It calls `proceed` to send the request. */
type Wire = <T>(call: unknown, proceed: () => Promise<T>) => Promise<T>;

/**
 * Function that creates a backend whose transport the caller controls: `intercept` may reject requests, and
 * `deliver` may drop or delay messages of the server.
 */
type Connect = (wire: {
  readonly intercept: Wire;
  readonly deliver: (arrive: () => void) => void;
}) => Backend;

/**
 * Returns a stage of the demo (the place where contenders run) that runs all contenders in this process, on
 * one server in memory. Each contender has its own client and connection.
 */
export async function openMemoryStage(settings: StageSettings): Promise<Stage> {
  const { createMemoryServer, memory } = await import('@queuelock/memory');
  const server = createMemoryServer();
  const connect: Connect = (wire) => memory({ server, ...wire });
  const observer = createLockClient(memory({ server }), { owner: 'observer' });
  const actors: MemoryActor[] = [];
  return {
    storeLabel: 'memory: (all in this process)',
    detectsDeath: false,
    observer,
    enter(part, emit) {
      const actor = new MemoryActor({ ...settings, part, emit, connect });
      actors.push(actor);
      return actor;
    },
    async close() {
      await Promise.all(actors.map((actor) => actor.close()));
      await observer.close();
      server.close();
    },
  };
}

interface Casting extends StageSettings {
  readonly part: ContenderScript;
  readonly emit: (event: ContendEvent) => void;
  readonly connect: Connect;
}

class MemoryActor implements Actor {
  readonly id: string;
  readonly ended: Promise<void>;
  readonly #stamp: () => string;
  readonly #client: LockClient;
  readonly #stop = new AbortController();
  #ownership: Ownership | undefined;
  #dead = false;
  #crashed: () => void = () => undefined;

  constructor({ name, stamp, part, emit, connect }: Casting) {
    this.id = part.id;
    this.#stamp = stamp;
    const backend = connect({ intercept: this.#wire(), deliver: this.#deliver() });
    this.#client = createLockClient(backend, { ttlMs: TTL_MS, owner: part.id });
    const death = new Promise<void>((resolve) => {
      this.#crashed = resolve;
    });
    const contender = {
      client: this.#client,
      name,
      id: part.id,
      holdMs: part.holdMs,
      stop: this.#stop.signal,
      stamp,
      // A contender that the demo has killed must not report anything more.
      emit: (event: ContendEvent) => {
        if (!this.#dead) emit(event);
      },
      onHold: (ownership: Ownership) => {
        this.#ownership = ownership;
        return undefined;
      },
    };
    // Ignores the error with which the contender ended, because the contender has already emitted it as an
    // event.
    const life = contend(contender, { count: part.rounds, gapMs: GAP_MS }).then(
      () => undefined,
      () => undefined,
    );
    this.ended = Promise.race([life, death]);
  }

  get provenUntil(): string | undefined {
    const remainingMs = this.#ownership?.remainingMs ?? 0;
    return remainingMs > 0 ? later(this.#stamp(), remainingMs) : undefined;
  }

  leave(): void {
    this.#stop.abort(new Error('the demo ended the contender'));
  }

  crash(): void {
    this.#dead = true;
    this.#stop.abort(new Error('dead'));
    this.#crashed();
  }

  /**
   * Closes the client. The client of a killed contender waits until its session has expired. After that, the
   * server has no entry of this contender.
   */
  async close(): Promise<void> {
    await this.#client.close();
  }

  /**
   * Returns an interceptor that rejects all requests after the kill of the contender, heartbeats included.
   */
  #wire(): Wire {
    return (_call, proceed) =>
      this.#dead ? Promise.reject(new QueueLockError('UNAVAILABLE', 'the contender has crashed')) : proceed();
  }

  #deliver(): (arrive: () => void) => void {
    return (arrive) => {
      if (!this.#dead) arrive();
    };
  }
}
