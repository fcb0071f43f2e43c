import { setMaxListeners } from 'node:events';
import { CallerAbortController } from '../base/caller-context.ts';
import { checkedSignal } from '../base/checked-signal.ts';
import type { Clock } from '../base/clock.ts';
import type { Closing, ClosingListener } from './closing.ts';
import type { Hold } from '../api/hold-api.ts';
import { QueueLockError, describeEviction, detailOf, isQueueLockError } from '../api/errors.ts';

/** The work under a hold, and its limits besides the loss of the hold. */
export interface WorkTerms<H extends Hold, T> {
  /** Name of the lock or permit that is held, for messages. */
  readonly what: string;
  /** The work callback; receives the hold and its stop signal. */
  readonly work: (hold: H, stop: AbortSignal) => T | PromiseLike<T>;
  readonly clock: Clock;
  /** The caller's stop signal. */
  readonly stop?: AbortSignal | undefined;
  readonly workTimeoutMs?: number | undefined;
  /** Notifies the work that the client begins to close. */
  readonly closing?: Closing | undefined;
}

type Outcome<T> = { readonly value: T } | { readonly error: unknown };

/**
 * Runs `work` under a hold, waits for its end, and releases the lock. Returns the result of `work`. Throws `OWNERSHIP_LOST` if the hold was lost. If
 * `work` throws after its time limit or the closing of the client has stopped it, throws `WORK_TIMEOUT` or `CLOSED` with that error as `cause`.
 */
export async function workUnder<H extends Hold, T>(hold: H, terms: WorkTerms<H, T>): Promise<Awaited<T>> {
  const { what, work } = terms;
  const stop = new Stop(hold, terms);
  let outcome: Outcome<Awaited<T>>;
  try {
    // The caller may have stopped the call in the same moment in which the lock was granted. Then `work` is not called.
    if (terms.stop?.aborted) throw terms.stop.reason;
    outcome = { value: await work(hold, stop.signal) };
  } catch (error) {
    outcome = { error };
  }
  stop.end();
  const { reason } = hold.signal as { readonly reason: unknown };
  await hold.release();
  throwIfLost(reason, what, outcome);
  if ('value' in outcome) return outcome.value;
  throw stop.explains(outcome.error);
}

/** Provides the `stop` signal of a callback, which aborts at the first reason to stop. */
class Stop implements ClosingListener {
  readonly signal: AbortSignal;
  readonly #controller = new CallerAbortController();
  readonly #ends: readonly AbortSignal[];
  readonly #timeLimit: QueueLockError | undefined;
  readonly #closing: Closing | undefined;
  readonly #undo: (() => void)[] = [];

  constructor(
    hold: Hold,
    { what, clock, stop, workTimeoutMs = Infinity, closing }: WorkTerms<never, unknown>,
  ) {
    this.#ends = stop ? [hold.signal, stop] : [hold.signal];
    this.#closing = closing;
    const deadline = clock.now() + workTimeoutMs;
    const isLimited = workTimeoutMs !== Infinity;
    this.#timeLimit = isLimited ? tookTooLong(what, workTimeoutMs) : undefined;
    this.signal = checkedSignal(this.#controller, () => {
      for (const end of this.#ends) if (end.aborted) this.#abort(end.reason);
      if (isLimited && clock.now() >= deadline) this.#abort(this.#timeLimit);
    });
    for (const end of this.#ends) {
      const tell = (): void => this.#abort(end.reason);
      // Many callbacks may use the same signal. By default, Node warns of a leak at the eleventh listener.
      setMaxListeners(0, end);
      end.addEventListener('abort', tell);
      this.#undo.push(() => end.removeEventListener('abort', tell));
    }
    closing?.add(this);
    if (isLimited) this.#undo.push(clock.after(workTimeoutMs, () => this.#abort(this.#timeLimit)));
  }

  /** Records that the work has ended. Nothing aborts the signal from now on. */
  end(): void {
    for (const undo of this.#undo.splice(0)) undo();
    this.#closing?.delete(this);
  }

  closing(error: QueueLockError): void {
    this.#abort(error);
  }

  /** Returns the error to report when the callback has thrown `error`. */
  explains(error: unknown): unknown {
    const reason: unknown = Reflect.get(AbortSignal.prototype, 'reason', this.signal);
    const isOurs = reason !== undefined && (reason === this.#timeLimit || reason === this.#closing?.error);
    if (!isOurs || error === reason || !isQueueLockError(reason)) return error;
    return new QueueLockError(reason.code, detailOf(reason), { cause: error });
  }

  #abort(reason: unknown): void {
    this.#controller.abort(reason);
  }
}

function tookTooLong(what: string, workTimeoutMs: number): QueueLockError {
  return new QueueLockError(
    'WORK_TIMEOUT',
    `${what}: the signal of the work aborted after ${String(workTimeoutMs)} ms (workTimeoutMs); it may have had effects`,
  );
}

function throwIfLost(loss: unknown, what: string, outcome: Outcome<unknown>): void {
  const error = 'error' in outcome ? outcome.error : undefined;
  if (!isQueueLockError(loss, 'OWNERSHIP_LOST') || error === loss) return;
  throw new QueueLockError(
    'OWNERSHIP_LOST',
    `${what} was lost while the work ran: ${whyOf(loss)}; the work may have had effects`,
    {
      cause: error ?? loss,
      ...(loss.reason ? { reason: loss.reason } : {}),
      ...(loss.eviction ? { eviction: loss.eviction } : {}),
    },
  );
}

/** Returns the message of a loss without the lock's name, because the caller has already added the name. */
function whyOf(loss: QueueLockError): string {
  const { eviction } = loss;
  const by = eviction ? ` (${describeEviction(eviction)})` : '';
  return detailOf(loss).replace(/^"(?:[^"\\]|\\.)*": /, '') + by;
}
