import { setTimeout as pause } from 'node:timers/promises';
import type { Contenders } from '@queuelock/bridge';
import { QueueLockError, type BackendInfo, type LockClient, type QueueState } from '@queuelock/core';
import { Subject, type Observable } from 'rxjs';
import { inOrder } from '../demo/in-order.ts';
import { ttlSecondsOn } from '../demo/process-stage.ts';
import { millisOf } from '../stamp.ts';
import type { ArenaEvent } from './events.ts';
import { Player, type PlayerSettings } from './player.ts';
import { EventLog } from './event-log.ts';
import { canProxy } from './contender-proxy.ts';

/** Settings of the demo page and its contenders. */
export interface ArenaSettings {
  /** Name of the queue that the contenders join. */
  readonly name: string;
  /** URL of the store, as the user entered it. */
  readonly url: string;
  readonly info: Pick<BackendInfo, 'authority' | 'minTtlMs'>;
  /** Client that observes the queue. The caller closes it. */
  readonly client: LockClient;
  readonly stamp: () => string;
  /** Called with every event among the contenders, in the order of the events' times. */
  readonly emit: (event: ArenaEvent) => void;
}

const AT_FIRST = 4;
const MAX_CONTENDERS = 8;
/** Maximum number of ended contenders that the demo page still shows. */
const MAX_ENDED = 2;
const GAP_MS = 400;
const WRITTEN_WITHIN_MS = 300;

/** The contenders of the demo page, which visitors add, freeze, kill and cut off, and the log of their events. */
export class Arena implements Contenders {
  readonly name: string;
  readonly #settings: ArenaSettings;
  readonly #changed$ = new Subject<void>();
  readonly #story = new EventLog();
  readonly #events = inOrder((event: ArenaEvent) => {
    this.#emitEvent(event);
  });
  readonly #watching: { unsubscribe(): void };
  readonly #pids = new Set<number>();
  #players: readonly Player[] = [];
  #count = 0;
  /** Order number of the entry that was first in the queue when the queue was last read. */
  #front: bigint | undefined;
  #adding: Promise<void> = Promise.resolve();
  #isClosed = false;

  static async open(settings: ArenaSettings): Promise<Arena> {
    const arena = new Arena(settings);
    for (let number = 1; number <= AT_FIRST; number += 1) await arena.#add();
    return arena;
  }

  private constructor(settings: ArenaSettings) {
    this.name = settings.name;
    this.#settings = settings;
    this.#watching = settings.client.watch(settings.name).subscribe({
      next: (state) => {
        this.#update(state);
      },
      error: throwUncaught,
    });
  }

  get changed$(): Observable<void> {
    return this.#changed$;
  }

  readonly draw: Contenders['draw'] = () => ({
    maxContenders: MAX_CONTENDERS,
    ttlMs: ttlSecondsOn(this.#settings.info) * 1_000,
    ...CUTTING[this.#cutting ?? 'not'],
    contenders: this.#players.map(({ snapshot }) => snapshot),
    happenings: this.#story.entries.map(({ t, ...line }) => ({ ...line, at: millisOf(t) })),
  });

  readonly act: Contenders['act'] = async (act) => {
    if (act.act === 'add') return this.#add();
    const player = this.#players.find(({ id }) => id === act.id);
    if (!player)
      throw new QueueLockError('INVALID_ARGUMENT', `the contender ${act.id} does not exist any more`);
    return player.act(act.act);
  };

  /** Resolves when all processes of the contenders have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watching.unsubscribe();
    await Promise.allSettled([this.#adding]);
    await Promise.all(this.#players.map((player) => player.close()));
    this.#events.flush();
    this.#changed$.complete();
  }

  get #cutting(): PlayerSettings['cutBy'] {
    const { url } = this.#settings;
    if (canProxy(url)) return 'proxy';
    return /^sqlite:/i.test(url) ? 'inside' : undefined;
  }

  /**
   * Adds a contender, after the additions of earlier calls have finished. Otherwise parallel calls could
   * exceed the limit of contenders.
   */
  #add(): Promise<void> {
    const enter = (): Promise<void> => this.#enter();
    this.#adding = this.#adding.then(enter, enter);
    return this.#adding;
  }

  async #enter(): Promise<void> {
    const living = this.#players.filter(({ hasEnded }) => !hasEnded);
    if (this.#isClosed || living.length >= MAX_CONTENDERS)
      throw new QueueLockError(
        'INVALID_ARGUMENT',
        `there are ${String(living.length)} contenders already, which is the limit`,
      );
    this.#count += 1;
    const { name, url, stamp, info } = this.#settings;
    const player = await Player.enter({
      ...{ name, url, stamp, gapMs: GAP_MS, keepsGoing: true, ttlSeconds: ttlSecondsOn(info) },
      id: `c${String(this.#count)}`,
      cutBy: this.#cutting,
      seesDeaths: info.authority === 'host',
      isFree: () => this.#isFree(),
      emit: this.#events.add,
      onChange: () => {
        this.#changed$.next();
      },
    });
    this.#pids.add(player.pid);
    const gone = this.#players.filter(({ hasEnded }) => hasEnded).slice(0, -MAX_ENDED);
    this.#players = [...this.#players.filter((other) => !gone.includes(other)), player];
    this.#changed$.next();
  }

  /**
   * Resolves with whether clients can use the store now. A suspended process may hold the operating system's
   * lock of a SQLite file. For stores with a server it is always `true`.
   */
  async #isFree(): Promise<boolean> {
    const { client, info, name } = this.#settings;
    if (info.authority !== 'host') return true;
    const written = client.tryAcquire(`${name}-probe`).then(async (probe) => {
      await probe?.release();
      return true;
    });
    return Promise.race([written, pause(WRITTEN_WITHIN_MS, false)]).catch(() => false);
  }

  #update({ status, entries }: QueueState): void {
    if (status !== 'live') return;
    for (const player of this.#players) player.update(entries);
    const [front] = entries;
    if (front && front.order !== this.#front && !this.#pids.has(front.pid ?? 0))
      this.#events.add({ t: this.#settings.stamp(), id: front.owner, ev: 'stranger' });
    this.#front = front?.order;
    this.#changed$.next();
  }

  #emitEvent(event: ArenaEvent): void {
    this.#story.add(event);
    this.#settings.emit(event);
    this.#changed$.next();
  }
}

/**
 * Throws an error of the stream of the queue's states as an uncaught exception. That stream never errors, so
 * an error is a defect of this program.
 */
function throwUncaught(error: unknown): never {
  throw error;
}

const CUTTING = {
  proxy: {
    canCut: true,
    cut: 'Each contender has a proxy between itself and the server. Cut blocks the data in both directions.',
  },
  inside: {
    canCut: true,
    cut: 'A file has no network to cut. So a contender that is cut off makes no calls to the file, heartbeats included, and receives nothing from it.',
  },
  not: {
    canCut: false,
    cut: 'Contenders cannot be cut off here: with TLS a proxy would not have the name of the server, and the transport native cannot connect through a proxy.',
  },
} as const;
