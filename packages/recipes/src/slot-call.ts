import type { LockClient, Ownership } from '@queuelock/core';
import type { OncePerOptions, SlotOptions, SlotOutcome, SlotWork } from './once-per-api.ts';
import { aborted, countingDown, firstOf, withWaitLimit, type WaitOptions } from './wait-limit.ts';
import { from, merge, type Subscription } from './rx.ts';
import { Sight } from './sight.ts';
import type { PastSlot, SlotRegister } from './slot-register.ts';
import type { SlotNote } from './slot.ts';

/** What all calls of one `oncePer` have in common: the client, the name, the register and the settings. */
export interface SlotTerms extends Required<Pick<OncePerOptions, 'guarantee' | 'owner'>> {
  readonly client: Pick<LockClient, 'run'>;
  readonly name: string;
  readonly register: SlotRegister;
}

/** Performs one call of `run` for a slot: reads the register, waits for the lock, and does the work. */
export async function callFor<T>(
  terms: SlotTerms,
  work: SlotWork<T>,
  options: SlotOptions,
): Promise<SlotOutcome<Awaited<T>>> {
  const { client, name, owner, register } = terms;
  const { signal, timeoutMs, workTimeoutMs } = options;
  const limits = { ...(signal ? { signal } : {}), ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const left = countingDown(limits);
  const past = await firstRead(terms, limits);
  if (past) return past;
  const wait = new SlotWait(register);
  try {
    const underHold: SlotWork<Promise<SlotOutcome<Awaited<T>>>> = (ownership, stop) => {
      wait.end();
      return workFor(terms, ownership, { work, stop });
    };
    return await client.run(name, underHold, {
      ...left(),
      signal: wait.signal,
      owner,
      ...(signal ? { stop: signal } : {}),
      ...(workTimeoutMs === undefined ? {} : { workTimeoutMs }),
    });
  } catch (error) {
    if (wait.past) return wait.past;
    throw error;
  } finally {
    wait.end();
  }
}

/**
 * Reads the register once before the call joins the queue. If the read fails or times out, the error states
 * that the state of the slot is unknown.
 */
function firstRead({ name, register }: SlotTerms, limits: WaitOptions): Promise<PastSlot | undefined> {
  const sight = new Sight();
  const what = `the state of the slot ${JSON.stringify(register.slot)} of ${JSON.stringify(name)} was not read`;
  return withWaitLimit(limits, { what, sight }, (signal) =>
    unlessAborted(signal, sight.until(register.past())),
  );
}

/**
 * Watches the register while a call waits for the lock. Aborts the wait when another call has noted the slot.
 */
class SlotWait {
  readonly #stop = new AbortController();
  readonly #watching: Subscription;
  past: PastSlot | undefined;

  constructor({ past$ }: SlotRegister) {
    this.#watching = past$.subscribe({
      next: (past) => {
        if (!past) return;
        this.past = past;
        this.#stop.abort(new Error('the slot is past'));
      },
      error: (error: unknown) => this.#stop.abort(error),
    });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  end(): void {
    this.#watching.unsubscribe();
  }
}

async function workFor<T>(
  { register, guarantee, owner }: SlotTerms,
  ownership: Ownership,
  { work, stop }: { readonly work: SlotWork<T>; readonly stop: AbortSignal },
): Promise<SlotOutcome<Awaited<T>>> {
  const note = (until: AbortSignal): Promise<PastSlot | undefined> =>
    unlessAborted(until, register.note(ownership, noter(owner), until));
  const isNotedFirst = guarantee === 'at-most-once';
  const past = await (isNotedFirst ? note(stop) : unlessAborted(stop, register.past()));
  if (past) return past;
  // Checks the signal directly before the work. If the event loop was blocked after the register's reply had
  // arrived, the signal may have aborted meanwhile.
  stop.throwIfAborted();
  const value = await work(ownership, stop);
  if (!isNotedFirst) await note(ownership.signal);
  return { outcome: 'ran', slot: register.slot, token: ownership.token, value };
}

function noter(owner: string): Pick<SlotNote, 'by' | 'at'> {
  // eslint-disable-next-line no-restricted-syntax -- for people: nothing is decided by it
  return { by: owner, at: Date.now() };
}

/**
 * Settles as the promise `task` does, but rejects with the signal's reason as soon as the signal aborts. The
 * work behind `task` continues, and its result is ignored.
 */
function unlessAborted<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
  // Subscribes to `task` first. So its rejection is handled even if the signal has already aborted.
  return firstOf(merge(from(task), aborted(signal)));
}
