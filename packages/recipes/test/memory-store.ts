import { QueueLockError, type Backend, type Registers } from '@queuelock/core/backend';
import { createMemoryServer, memory, type Intercept, type MemoryServer } from '@queuelock/memory';
import { Subject, defer, merge, switchMap, throwError, type Observable } from 'rxjs';
import type { Store, StoreLine } from './frame.ts';

// TTL in milliseconds. Long enough that a heartbeat may be late on a busy machine, even with the smallest
// safety margin.
const TTL_MS = 1_000;
const EXPIRY_MS = 200;

/** Returns a store with one server in this process. */
export function memoryStore(server: MemoryServer = createMemoryServer()): Store {
  return {
    name: 'memory',
    ttlMs: TTL_MS,
    expiryMs: EXPIRY_MS,
    connect: () => memory({ server }),
    line: async () => new MemoryLine(server),
    async leftovers(queue) {
      const watchers = server.watcherCount === 0 ? [] : [`${server.watcherCount} watchers`];
      return [...(server.queues().get(queue) ?? []).map(({ key }) => key), ...watchers];
    },
  };
}

/**
 * A simulated connection that can be cut. While it is cut, calls fail and events are delayed. Observers are
 * notified of the cut.
 */
export class MemoryLine implements StoreLine {
  readonly #server: MemoryServer;
  readonly #cut$ = new Subject<void>();
  readonly #waiting: (() => void)[] = [];
  #isCut = false;

  constructor(server: MemoryServer) {
    this.#server = server;
  }

  connect(): Backend {
    const intercept: Intercept = async (_call, proceed) => {
      if (this.#isCut) throw unreachable();
      return proceed();
    };
    const deliver = (arrive: () => void): void => {
      if (this.#isCut) this.#waiting.push(arrive);
      else arrive();
    };
    const backend = memory({ server: this.#server, intercept, deliver });
    return {
      ...backend,
      observe: (queue) => this.#untilCut(backend.observe(queue)),
      ...(backend.registers && { registers: this.#registers(backend.registers) }),
    } satisfies Backend;
  }

  cut(): void {
    this.#isCut = true;
    this.#cut$.next();
  }

  async mend(): Promise<void> {
    this.#isCut = false;
    for (const arrive of this.#waiting.splice(0)) arrive();
  }

  stop(): Promise<void> {
    return this.mend();
  }

  #registers(registers: Registers): Registers {
    return {
      ...registers,
      observe: (queue, kind) => this.#untilCut(registers.observe(queue, kind)),
    } satisfies Registers;
  }

  #untilCut<T>(source$: Observable<T>): Observable<T> {
    const failed$ = throwError(() => unreachable());
    const cut$ = this.#cut$.pipe(switchMap(() => failed$));
    return defer(() => (this.#isCut ? failed$ : merge(cut$, source$)));
  }
}

function unreachable(): QueueLockError {
  return new QueueLockError('UNAVAILABLE', 'the connection is cut');
}
