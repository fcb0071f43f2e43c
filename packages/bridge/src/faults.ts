import type { Eviction, LockClient, QueueState } from '@queuelock/core';
import { detailOf } from '@queuelock/core/backend';
import { follow } from './follow.ts';
import { distinctUntilChanged, map, Subject, type Observable, type Subscription } from './rx.ts';
import type { ServerTime } from './server-time.ts';
import { evictionSnapshot } from './snapshots/eviction.ts';
import type { FaultSnapshot } from './wire.ts';

const MAX_FAULTS = 200;
const MAX_LOGGED_KEYS = 5_000;

/** Log of the latest failures that the bridge has seen. */
export class FaultLog {
  readonly #time: ServerTime;
  readonly #session: Subscription;
  readonly #changed$ = new Subject<void>();
  readonly #faults: FaultSnapshot[] = [];
  /** Evictions that are already in the log of faults. */
  readonly #logged = new Set<string>();

  constructor(client: Pick<LockClient, 'session$'>, time: ServerTime) {
    this.#time = time;
    const status$ = client.session$.pipe(
      map(({ status }) => status),
      distinctUntilChanged(),
    );
    this.#session = follow(status$, (status) => {
      if (status === 'suspect' || status === 'lost')
        this.#add({ kind: 'session', about: 'bridge', text: SESSION[status] });
    });
  }

  /** The faults in the log, the newest last. */
  get faults(): readonly FaultSnapshot[] {
    return this.#faults;
  }

  get changed$(): Observable<void> {
    return this.#changed$;
  }

  /** Records the fault that a queue cannot be read, if that is the new status of the queue. */
  store(name: string, { status, error }: QueueState): void {
    if (status !== 'stale') return;
    const why = error === undefined ? '' : `: ${detailOf(error)}`;
    this.#add({ kind: 'store', about: name, text: `the queue cannot be read${why}` });
  }

  /** Adds the evictions of a queue to the log of faults, except for those that it already contains. */
  evictions(name: string, evictions: readonly Eviction[]): void {
    for (const eviction of evictions) {
      const key = JSON.stringify([name, eviction.entry.key, String(eviction.entry.order)]);
      if (this.#logged.has(key)) continue;
      this.#logged.add(key);
      const [oldest = key] = this.#logged;
      if (this.#logged.size > MAX_LOGGED_KEYS) this.#logged.delete(oldest);
      const { kind, by, reason, entry, at } = eviction;
      const text = `${entry.owner} was ${kind} by ${by}: ${reason}`;
      this.#add({ at, kind: 'eviction', about: name, text, eviction: evictionSnapshot(eviction) });
    }
  }

  close(): void {
    this.#session.unsubscribe();
    this.#changed$.complete();
  }

  #add(fault: Omit<FaultSnapshot, 'at'> & { readonly at?: number }): void {
    this.#faults.push({ at: this.#time.now(), ...fault });
    if (this.#faults.length > MAX_FAULTS) this.#faults.shift();
    this.#changed$.next();
  }
}

const SESSION = {
  suspect: "a heartbeat of the bridge's session is overdue",
  lost: "the bridge's session is lost, and with it every join of its pages",
} as const;
