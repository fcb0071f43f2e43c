import { QueueLockError, createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { createMemoryServer, memory, type Intercept, type MemoryServer } from '@queuelock/memory';
import { contend } from '../contend/contend.ts';
import type { ContendEvent } from '../contend/event.ts';
import { later, type Actor, type Part, type Stage, type StageSettings } from './stage.ts';

const TTL_MS = 2_000;
const GAP_MS = 50;

/** Everybody in this process: one server, and a client with a connection of its own for each contender. */
export function memoryStage(settings: StageSettings): Stage {
  const server = createMemoryServer();
  const observer = createLockClient(memory({ server }), { owner: 'observer' });
  const actors: MemoryActor[] = [];
  return {
    place: 'memory: (a server and all contenders in this process)',
    observer,
    enter(part, emit) {
      const actor = new MemoryActor({ ...settings, part, emit, server });
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
  readonly part: Part;
  readonly emit: (event: ContendEvent) => void;
  readonly server: MemoryServer;
}

class MemoryActor implements Actor {
  readonly id: string;
  readonly gone: Promise<void>;
  readonly #stamp: () => string;
  readonly #client: LockClient;
  readonly #stop = new AbortController();
  #ownership: Ownership | undefined;
  #dead = false;
  #diesNow: () => void = () => undefined;

  constructor({ name, stamp, part, emit, server }: Casting) {
    this.id = part.id;
    this.#stamp = stamp;
    const options = { server, intercept: this.#wire(), deliver: this.#deliver() };
    this.#client = createLockClient(memory(options), { ttlMs: TTL_MS, owner: part.id });
    const death = new Promise<void>((resolve) => {
      this.#diesNow = resolve;
    });
    const contender = {
      client: this.#client,
      name,
      id: part.id,
      holdMs: part.holdMs,
      stop: this.#stop.signal,
      stamp,
      // The dead tell nothing.
      emit: (event: ContendEvent) => {
        if (!this.#dead) emit(event);
      },
      onHold: (ownership: Ownership) => {
        this.#ownership = ownership;
      },
    };
    // An error is in the history already.
    const life = contend(contender, { count: part.rounds, gapMs: GAP_MS }).then(
      () => undefined,
      () => undefined,
    );
    this.gone = Promise.race([life, death]);
  }

  get provenUntil(): string | undefined {
    const remainingMs = this.#ownership?.remainingMs ?? 0;
    return remainingMs > 0 ? later(this.#stamp(), remainingMs) : undefined;
  }

  leave(): void {
    this.#stop.abort(new Error('asked to leave'));
  }

  crash(): void {
    this.#dead = true;
    this.#stop.abort(new Error('dead'));
    this.#diesNow();
  }

  /** After a crash this takes until the session has run out: only then it is certain that nothing is left. */
  async close(): Promise<void> {
    await this.#client.close();
  }

  /** From the crash on no request leaves this client, heartbeats included. */
  #wire(): Intercept {
    return (_call, proceed) =>
      this.#dead ? Promise.reject(new QueueLockError('UNAVAILABLE', 'the contender is dead')) : proceed();
  }

  #deliver(): (arrive: () => void) => void {
    return (arrive) => {
      if (!this.#dead) arrive();
    };
  }
}
