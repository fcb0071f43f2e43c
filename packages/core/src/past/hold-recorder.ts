import { setMaxListeners } from 'node:events';
import { hostname } from 'node:os';
import { backoffDelay, type BackoffOptions } from '../base/backoff.ts';
import type { Clock } from '../base/clock.ts';
import { quote } from '../base/printable.ts';
import { Subject, type Observable } from '../base/rx.ts';
import { wallTime } from '../base/wall-time.ts';
import { QueueLockError, detailOf, isQueueLockError } from '../api/errors.ts';
import type { Ownership } from '../api/hold-api.ts';
import type { Backend, Registers } from '../api/spi.ts';
import type { EntryLabel } from '../entry/entry-value.ts';
import { repeatUntilDefinite } from '../kit/definite.ts';
import { HOLDS_KIND, applyUpdates, printedText, type HoldEnd, type HoldUpdate } from './hold-records.ts';

/** Delay before a write in milliseconds. A hold that ends within this delay costs only one write, and the write does not delay the release. */
const WRITE_DELAY_MS = 20;
/** Time limit in milliseconds for unfinished writes when the client closes. */
const CLOSING_MS = 1_000;
/** Delays in milliseconds before another attempt, when another client has changed the record between this client's read and write. */
const CONFLICT_BACKOFF: BackoffOptions = { initialDelayMs: 5, maxDelayMs: 500 };
/** Minimum time in milliseconds between two reports that the store refused a write. */
const REPORT_EVERY_MS = 60_000;

const HOST = hostname();

/** The parts of a client that the recorder uses. */
export interface RecorderTools {
  readonly registers: Registers;
  readonly clock: Clock;
  /** Number of holds to keep for each name. */
  readonly last: number;
  /** Signal that aborts when the client closes. */
  readonly closing: AbortSignal;
  /** Called with each write for which the client has to wait when it closes. */
  readonly afterwards: (work: Promise<void>) => void;
}

/** Writes the record of one hold. */
export interface HoldRecording {
  /** Records the end of the hold. A repeated call corrects the reason of a loss, but keeps the recorded time. */
  ended(loss?: QueueLockError): void;
}

/** The changes to the record of one name that are not written yet, by the id of the hold. */
type Pending = Map<string, HoldUpdate>;

/**
 * Records the holds of a client in the background. No hold and no release waits for a write, or fails because of one. For each name, one write runs
 * at a time. Changes that arrive meanwhile are written together, and at most `last` of them (the option `recordHolds`) are kept.
 */
export class HoldRecorder {
  /** Emits an error when the store refuses to write a record of holds, at most once a minute. */
  readonly errors$: Observable<QueueLockError>;
  readonly #errors$ = new Subject<QueueLockError>();
  readonly #tools: RecorderTools;
  /** The changes that wait for a write, for each name whose record is being written. */
  readonly #pending = new Map<string, Pending>();
  readonly #pauses = new Set<() => void>();
  readonly #stop = new AbortController();
  #cancelStop: (() => void) | undefined;
  #reportedAt = -Infinity;

  constructor(tools: RecorderTools) {
    this.#tools = tools;
    this.errors$ = this.#errors$.asObservable();
    setMaxListeners(0, this.#stop.signal);
    const close = (): void => {
      for (const end of this.#pauses) end();
      this.#stopSoon();
    };
    tools.closing.addEventListener('abort', close, { once: true });
  }

  /** Records that a hold began. */
  began(hold: Ownership, label: EntryLabel | string): HoldRecording {
    const { name, id, token, order, shared, limit } = hold;
    const { clock } = this.#tools;
    const begunAt = clock.now();
    const update: HoldUpdate = {
      id: id.slice(0, 16),
      token,
      order,
      owner: printedText(typeof label === 'string' ? label : label.owner),
      host: printedText(HOST),
      pid: process.pid,
      beganAt: wallTime(),
      alone: !shared && limit === 1,
    };
    this.#note(name, update);
    let heldMs: number | undefined;
    return {
      ended: (loss) => {
        heldMs ??= Math.round(clock.now() - begunAt);
        this.#note(name, { ...update, end: endOf(loss, heldMs) });
      },
    };
  }

  #note(name: string, update: HoldUpdate): void {
    const { last, afterwards, closing } = this.#tools;
    const present = this.#pending.get(name);
    const pending: Pending = present ?? new Map<string, HoldUpdate>();
    pending.set(update.id, update);
    const [oldest] = pending.keys();
    if (pending.size > last && oldest !== undefined) pending.delete(oldest);
    if (present) return;
    this.#pending.set(name, pending);
    if (closing.aborted) this.#stopSoon();
    afterwards(this.#write(name, pending));
  }

  /** Writes the waiting changes to the record of a name, and then the changes that arrived meanwhile, until none is left. Never rejects. */
  async #write(name: string, pending: Pending): Promise<void> {
    await this.#pause(WRITE_DELAY_MS);
    while (pending.size > 0) {
      const updates = [...pending.values()];
      pending.clear();
      try {
        await this.#apply(name, updates);
      } catch (error) {
        this.#report(name, error);
      }
    }
    this.#pending.delete(name);
    if (this.#pending.size > 0) return;
    this.#cancelStop?.();
    this.#cancelStop = undefined;
  }

  /** Repeats a change of the record until its outcome is certain. */
  async #apply(name: string, updates: readonly HoldUpdate[]): Promise<void> {
    const { signal } = this.#stop;
    for (let attempt = 0; ; attempt += 1) {
      if (await repeatUntilDefinite(() => this.#change(name, updates), signal)) return;
      await this.#pause(backoffDelay(attempt, CONFLICT_BACKOFF, this.#tools.clock));
    }
  }

  /** Changes the record once. Resolves to `false` if another client has changed it meanwhile. */
  async #change(name: string, updates: readonly HoldUpdate[]): Promise<boolean> {
    const { registers, last } = this.#tools;
    const present = await registers.read(name, HOLDS_KIND);
    const text = applyUpdates(present?.text, updates, last);
    return text === present?.text || registers.write(name, HOLDS_KIND, { text, was: present?.version });
  }

  /** Waits for a delay, which ends early when the client closes. */
  #pause(ms: number): Promise<void> {
    const { clock, closing } = this.#tools;
    if (closing.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        this.#pauses.delete(end);
        resolve();
      };
      const cancel = clock.after(ms, end);
      this.#pauses.add(end);
    });
  }

  /** Aborts unfinished writes one second after the client has begun to close. */
  #stopSoon(): void {
    if (this.#pending.size === 0) return;
    this.#cancelStop ??= this.#tools.clock.after(CLOSING_MS, () => {
      this.#stop.abort(new QueueLockError('CLOSED', 'the client was closed'));
    });
  }

  #report(name: string, cause: unknown): void {
    const now = this.#tools.clock.now();
    if (!isQueueLockError(cause) || cause.code === 'CLOSED' || now - this.#reportedAt < REPORT_EVERY_MS)
      return;
    this.#reportedAt = now;
    const message = `a hold of ${quote(name)} was not recorded: ${detailOf(cause)}`;
    this.#errors$.next(new QueueLockError(cause.code, message, { cause }));
  }
}

/** Returns the recorder of a client; `undefined` if it records no holds. */
export function recorderOf(
  { registers }: Backend,
  tools: Omit<RecorderTools, 'registers'>,
): HoldRecorder | undefined {
  return registers && tools.last > 0 ? new HoldRecorder({ ...tools, registers }) : undefined;
}

function endOf(loss: QueueLockError | undefined, heldMs: number): HoldEnd {
  if (!loss) return { reason: 'released', heldMs };
  const { reason = 'session-lost', eviction } = loss;
  if (!eviction) return { reason, heldMs };
  return {
    reason,
    heldMs,
    eviction: { by: printedText(eviction.by), reason: printedText(eviction.reason) },
  };
}
