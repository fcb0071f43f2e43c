import type { ContendEvent } from '../contend/event.ts';
import type { HistoryEvent, SeenEvent } from '../demo/history.ts';
import { millisBetween } from '../stamp.ts';
import type { ArenaEvent, Disturbance } from './events.ts';
import { Wake } from './wake.ts';

/** An event of the log, as a text. */
export interface StoryLine {
  readonly id: number;
  /** Stamp of the event. */
  readonly t: string;
  readonly kind: 'grant' | 'disturbance' | 'loss' | 'violation';
  readonly text: string;
}

interface Line extends StoryLine {
  /** For a grant: the contenders that were notified, which may be completed later. */
  readonly wake?: Wake;
}

/** How the previous hold has ended, or will end. */
interface Ending {
  readonly id: string;
  readonly t: string;
  readonly how: 'released' | 'lost' | 'frozen' | 'cut' | 'killed' | 'stranger';
  /** End of its proven time. */
  readonly until?: string | undefined;
}

const KEPT = 60;

/** Describes the events among contenders in words. Expects them in the order of their stamps. */
export class Story {
  readonly #lines: Line[] = [];
  readonly #waiting = new Set<string>();
  readonly #failing = new Set<string>();
  #count = 0;
  #holder: string | undefined;
  #token: string | undefined;
  #ending: Ending | undefined;
  #wake = new Wake();

  /** The latest log entries, the newest last. */
  get lines(): readonly StoryLine[] {
    return this.#lines.map(({ wake, text, ...line }) => ({ ...line, text: text + (wake?.words ?? '') }));
  }

  add(event: ArenaEvent): void {
    switch (event.ev) {
      case 'enqueued':
        this.#waiting.add(event.id);
        this.#failing.delete(event.id);
        break;
      case 'told':
        this.#wake.tell(event);
        break;
      case 'acquired':
        this.#grant(event);
        break;
      case 'released':
        this.#end({ ...event, how: 'released' });
        this.#quit(event.id);
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
    // A contender that found the lock free was not notified by a release.
    const wake = this.#ending && this.#wake.has(id) ? this.#wake : undefined;
    wake?.of(this.#waiting.size);
    this.#say({
      t,
      kind,
      text: `${id} holds: ${tokens}${gap ? `, ${gap.words}` : ''}`,
      ...(wake && { wake }),
    });
    this.#waiting.delete(id);
    this.#holder = id;
    this.#token = mine;
    this.#ending = undefined;
  }

  /** Records the end of a hold, which the next grant follows from. */
  #end(ending: Ending): void {
    if (this.#holder !== ending.id) return;
    this.#ending = ending;
    this.#wake = new Wake();
  }

  #lose({ t, id, reason = 'unknown reason' }: ContendEvent): void {
    const text =
      this.#holder === id && reason === 'heartbeat-timeout'
        ? `${id} gives up the lock by its own clock: its proven time is over`
        : `${id} learns that it has lost the lock (${reason})`;
    this.#say({ t, kind: 'loss', text });
    this.#end({ t, id, how: 'lost' });
    this.#quit(id);
  }

  /** Records that a contender no longer believes to hold. */
  #quit(id: string): void {
    if (this.#holder === id) this.#holder = undefined;
  }

  #disturb({ t, id, ev, until }: Disturbance): void {
    const holds = this.#holder === id;
    const isDone = ev === 'frozen' || ev === 'cut';
    const left = holds && until !== undefined ? `, its hold is proven for ${words(t, until)} more` : '';
    const doing = holds ? ' while it holds' : this.#waiting.has(id) ? ' while it waits' : '';
    this.#say({ t, kind: 'disturbance', text: `${id} ${WORDS[ev]}${isDone ? `${doing}${left}` : ''}` });
    if (isDone) this.#end({ t, id, how: ev, until });
    // Its own hold continues if it has not expired.
    else if (holds) this.#ending = undefined;
  }

  #kill({ t, id, until }: SeenEvent): void {
    const holds = this.#holder === id;
    this.#say({ t, kind: 'disturbance', text: `${id} was killed${holds ? ' while it held' : ''}` });
    if (holds) this.#end({ t, id, how: 'killed', until });
    else this.#depart(id);
  }

  #leave({ t, id, ev, message = 'it failed' }: HistoryEvent): void {
    if (ev === 'expired') this.#say({ t, kind: 'loss', text: `the store has removed the entry of ${id}` });
    // Reports only the first error of a contender that is cut off: it fails repeatedly.
    if (ev === 'error' && !this.#failing.has(id)) {
      this.#failing.add(id);
      this.#say({ t, kind: 'loss', text: `${id} cannot stand in line: ${shortly(message)}` });
    }
    if (this.#ending?.id !== id) this.#depart(id);
  }

  /** Records the departure of a waiter, after which the next one may be notified. */
  #depart(id: string): void {
    if (this.#waiting.delete(id)) this.#wake.otherCause();
  }

  #say(line: Omit<Line, 'id'>): void {
    this.#count += 1;
    this.#lines.push({ id: this.#count, ...line });
    if (this.#lines.length > KEPT) this.#lines.shift();
  }
}

const WORDS = {
  frozen: 'is frozen',
  cut: 'is cut off from the store',
  thawed: 'is thawed and goes on',
  mended: 'is connected again',
} as const;

const WHICH = { frozen: 'is frozen', cut: 'is cut off', killed: 'was killed' } as const;

interface Gap {
  readonly words: string;
  /** Whether the grant came before the previous hold was proven to be over. */
  readonly isEarly: boolean;
}

/** Describes the time from the end of one hold to the next grant. */
function gapAfter({ id, t: end, how, until }: Ending, t: string): Gap {
  switch (how) {
    case 'stranger':
      return { words: `after ${id}`, isEarly: false };
    case 'released':
      return { words: `${words(end, t)} after ${id} released`, isEarly: false };
    case 'lost':
      return { words: `${words(end, t)} after ${id} had lost it`, isEarly: false };
    case 'frozen':
    case 'cut':
    case 'killed': {
      if (until === undefined)
        return {
          words: `${words(end, t)} after ${id} ${how === 'killed' ? 'was' : 'had been'} ${how}`,
          isEarly: false,
        };
      const isEarly = BigInt(t) < BigInt(until);
      const proven = `the proven time of ${id}, which ${WHICH[how]}, had ended`;
      return {
        words: isEarly ? `${words(t, until)} BEFORE ${proven}` : `${words(until, t)} after ${proven}`,
        isEarly,
      };
    }
  }
}

/** Returns a message without its leading code and without its cause. */
function shortly(message: string): string {
  return message.replace(/^\[[A-Z_]+\] /, '').split(': ', 1)[0] ?? '';
}

/** Formats the time between two stamps. */
function words(from: string, to: string): string {
  const ms = Math.max(0, millisBetween(from, to));
  if (ms < 10) return `${ms.toFixed(1)} ms`;
  return ms < 1_000 ? `${ms.toFixed(0)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
