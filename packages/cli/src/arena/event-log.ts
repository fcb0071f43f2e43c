import type { ContendEvent } from '../contend/event.ts';
import type { HistoryEvent, SeenEvent } from '../demo/history.ts';
import { millisBetween } from '../stamp.ts';
import type { ArenaEvent, Disturbance } from './events.ts';
import { NotifiedWaiters } from './notified-waiters.ts';

/** A numbered line of the event log, which the demo page shows. */
export interface LogEntry {
  readonly id: number;
  /** Time of the event, as a stamp (see `stamp.ts`). */
  readonly t: string;
  readonly kind: 'grant' | 'disturbance' | 'loss' | 'violation';
  readonly text: string;
}

interface NumberedEntry extends LogEntry {
  /**
   * The waiters that the store notified of the previous release. Set for a grant that follows a release. More
   * waiters may be added later, when their notifications are reported.
   */
  readonly wake?: NotifiedWaiters;
}

/** The end of the previous hold: the reason, the time, and the contender. */
interface Ending {
  readonly id: string;
  readonly t: string;
  readonly how: 'released' | 'lost' | 'frozen' | 'cut' | 'killed' | 'stranger';
  /** End of the proven time of the previous hold, as a stamp. */
  readonly until?: string | undefined;
}

const MAX_ENTRIES = 60;

/**
 * Describes the events of the contenders in words. The caller adds the events in the order of their stamps.
 */
export class EventLog {
  readonly #entries: NumberedEntry[] = [];
  readonly #waiting = new Set<string>();
  readonly #failing = new Set<string>();
  #count = 0;
  #holder: string | undefined;
  #token: string | undefined;
  #ending: Ending | undefined;
  #wake = new NotifiedWaiters();

  /** The latest log entries, the newest last. */
  get entries(): readonly LogEntry[] {
    return this.#entries.map(({ wake, text, ...line }) => ({ ...line, text: text + (wake?.text ?? '') }));
  }

  add(event: ArenaEvent): void {
    switch (event.ev) {
      case 'enqueued':
        this.#waiting.add(event.id);
        this.#failing.delete(event.id);
        break;
      case 'notified':
        this.#wake.add(event);
        break;
      case 'acquired':
        this.#grant(event);
        break;
      case 'released':
        this.#end({ ...event, how: 'released' });
        this.#endBelief(event.id);
        break;
      case 'lost':
        this.#lose(event);
        break;
      case 'stranger':
        this.#holder = event.id;
        this.#end({ ...event, how: 'stranger' });
        break;
      case 'frozen':
      case 'cut':
      case 'thawed':
      case 'mended':
        this.#disturb(event);
        break;
      case 'crashed':
        this.#kill(event);
        break;
      case 'expired':
      case 'cancelled':
      case 'error':
        this.#leave(event);
        break;
      case 'requesting':
        break;
    }
  }

  #grant({ t, id, token, zxid }: ContendEvent): void {
    const mine = zxid ?? token ?? '?';
    const tokens = this.#token === undefined ? `with token ${mine}` : `token ${this.#token} → ${mine}`;
    const gap = this.#ending ? gapAfter(this.#ending, t) : undefined;
    const kind = gap?.isEarly ? 'violation' : 'grant';
    // Counts the notified waiters only if the granted contender was among them. A contender that joined while
    // the lock was free was granted without a notification.
    const wake = this.#ending && this.#wake.has(id) ? this.#wake : undefined;
    wake?.setTotal(this.#waiting.size);
    this.#add({
      t,
      kind,
      text: `${id} holds: ${tokens}${gap ? `, ${gap.text}` : ''}`,
      ...(wake && { wake }),
    });
    this.#waiting.delete(id);
    this.#holder = id;
    this.#token = mine;
    this.#ending = undefined;
  }

  /** Records the end of the current hold, if it is the hold of the contender `ending.id`. */
  #end(ending: Ending): void {
    if (this.#holder !== ending.id) return;
    this.#ending = ending;
    this.#wake = new NotifiedWaiters();
  }

  #lose({ t, id, reason = 'unknown reason' }: ContendEvent): void {
    const text =
      this.#holder === id && reason === 'heartbeat-timeout'
        ? `${id} gives up the lock by its own clock: its proven time has ended`
        : `${id} learns that it has lost the lock (${reason})`;
    this.#add({ t, kind: 'loss', text });
    this.#end({ t, id, how: 'lost' });
    this.#endBelief(id);
  }

  /**
   * Records that the lock has no holder, if this contender was the holder and its events show that it no longer
   * holds.
   */
  #endBelief(id: string): void {
    if (this.#holder === id) this.#holder = undefined;
  }

  #disturb({ t, id, ev, until }: Disturbance): void {
    const holds = this.#holder === id;
    const isDone = ev === 'frozen' || ev === 'cut';
    const remaining =
      holds && until !== undefined ? `, its hold is proven for ${timeBetween(t, until)} more` : '';
    const doing = holds ? ' while it holds' : this.#waiting.has(id) ? ' while it waits' : '';
    this.#add({
      t,
      kind: 'disturbance',
      text: `${id} ${DISTURBANCE_TEXTS[ev]}${isDone ? `${doing}${remaining}` : ''}`,
    });
    if (isDone) this.#end({ t, id, how: ev, until });
    // A frozen or cut-off contender that resumes within its proven time still holds.
    else if (holds) this.#ending = undefined;
  }

  #kill({ t, id, until }: SeenEvent): void {
    const holds = this.#holder === id;
    this.#add({ t, kind: 'disturbance', text: `${id} was killed${holds ? ' while it held' : ''}` });
    if (holds) this.#end({ t, id, how: 'killed', until });
    else this.#depart(id);
  }

  #leave({ t, id, ev, message = 'it failed' }: HistoryEvent): void {
    if (ev === 'expired') this.#add({ t, kind: 'loss', text: `the store has removed the entry of ${id}` });
    // A contender that is cut off fails again and again. The log shows only the first of these errors.
    if (ev === 'error' && !this.#failing.has(id)) {
      this.#failing.add(id);
      this.#add({ t, kind: 'loss', text: `${id} cannot join the queue: ${shortMessage(message)}` });
    }
    if (this.#ending?.id !== id) this.#depart(id);
  }

  /**
   * Records that a waiter left the queue. The store notifies other waiters of that departure, so later
   * notifications may not be due to the previous release. They are no longer counted.
   */
  #depart(id: string): void {
    if (this.#waiting.delete(id)) this.#wake.stopCounting();
  }

  #add(entry: Omit<NumberedEntry, 'id'>): void {
    this.#count += 1;
    this.#entries.push({ id: this.#count, ...entry });
    if (this.#entries.length > MAX_ENTRIES) this.#entries.shift();
  }
}

const DISTURBANCE_TEXTS = {
  frozen: 'is frozen',
  cut: 'is cut off from the store',
  thawed: 'is thawed and continues',
  mended: 'is connected again',
} as const;

const STATE_TEXTS = { frozen: 'is frozen', cut: 'is cut off', killed: 'was killed' } as const;

interface Gap {
  readonly text: string;
  /** Whether the grant came before the proven time of the previous hold ended. */
  readonly isEarly: boolean;
}

/** Describes the time from the end of one hold to the next grant. */
function gapAfter({ id, t: end, how, until }: Ending, t: string): Gap {
  switch (how) {
    case 'stranger':
      return { text: `after ${id}`, isEarly: false };
    case 'released':
      return { text: `${timeBetween(end, t)} after ${id} released`, isEarly: false };
    case 'lost':
      return { text: `${timeBetween(end, t)} after ${id} lost it`, isEarly: false };
    case 'frozen':
    case 'cut':
    case 'killed': {
      if (until === undefined)
        return {
          text: `${timeBetween(end, t)} after ${id} ${how === 'killed' ? 'was' : 'had been'} ${how}`,
          isEarly: false,
        };
      const isEarly = BigInt(t) < BigInt(until);
      const proven = `the proven time of ${id}, which ${STATE_TEXTS[how]}, had ended`;
      return {
        text: isEarly
          ? `${timeBetween(t, until)} BEFORE ${proven}`
          : `${timeBetween(until, t)} after ${proven}`,
        isEarly,
      };
    }
  }
}

/** Returns an error message without the code at its start and without its cause. */
function shortMessage(message: string): string {
  return message.replace(/^\[[A-Z_]+\] /, '').split(': ', 1)[0] ?? '';
}

/** Formats the time between two stamps. */
function timeBetween(from: string, to: string): string {
  const ms = Math.max(0, millisBetween(from, to));
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
