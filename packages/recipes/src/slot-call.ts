import type { LockClient, Ownership } from '@queuelock/core';
import type { OncePerOptions, SlotOptions, SlotOutcome, SlotWork } from './once-per-api.ts';
import { aborted, firstOf, patience } from './patience.ts';
import { Subscription, from, merge } from './rx.ts';
import type { PastSlot, SlotRegister } from './slot-register.ts';
import type { SlotNote } from './slot.ts';

/** What one call is about. */
export interface SlotTerms extends Required<OncePerOptions> {
  readonly client: Pick<LockClient, 'run'>;
  readonly name: string;
  readonly register: SlotRegister;
}

/** From the first look to the end of the work. */
export async function callFor<T>(
  terms: SlotTerms,
  work: SlotWork<T>,
  options: SlotOptions,
): Promise<SlotOutcome<Awaited<T>>> {
  const { client, name, owner, register } = terms;
  const wait = new SlotWait(terms, options);
  try {
    const past = await unlessAborted(wait.signal, register.past());
    if (past) return past;
    wait.watch(register);
    const underHold: SlotWork<Promise<SlotOutcome<Awaited<T>>>> = (ownership, stop) => {
      wait.end();
      return workFor(terms, ownership, { work, stop });
    };
    const { signal, workTimeoutMs } = options;
    return await client.run(name, underHold, {
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

/** What ends the wait for the turn: the caller's limits, or that somebody else has noted the slot. */
class SlotWait {
  readonly #stop = new AbortController();
  readonly #subscriptions = new Subscription();
  past: PastSlot | undefined;

  constructor({ name, register }: SlotTerms, options: SlotOptions) {
    const what = `it was not known who does the slot ${JSON.stringify(register.slot)} of ${JSON.stringify(name)}`;
    this.#subscriptions.add(
      patience(options, what).subscribe({ error: (error: unknown) => this.#stop.abort(error) }),
    );
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  watch({ past$ }: SlotRegister): void {
    const watching = past$.subscribe({
      next: (past) => {
        if (!past) return;
        this.past = past;
        this.#stop.abort(new Error('the slot is past'));
      },
      error: (error: unknown) => this.#stop.abort(error),
    });
    this.#subscriptions.add(watching);
  }

  end(): void {
    this.#subscriptions.unsubscribe();
  }
}

async function workFor<T>(
  { register, promise, owner }: SlotTerms,
  ownership: Ownership,
  { work, stop }: { readonly work: SlotWork<T>; readonly stop: AbortSignal },
): Promise<SlotOutcome<Awaited<T>>> {
  const note = (until: AbortSignal): Promise<PastSlot | undefined> =>
    unlessAborted(until, register.note(ownership, noter(owner), until));
  const isNotedFirst = promise === 'at-most-once';
  const past = await (isNotedFirst ? note(stop) : unlessAborted(stop, register.past()));
  if (past) return past;
  // Also after a loop that was blocked since the answer.
  stop.throwIfAborted();
  const value = await work(ownership, stop);
  if (!isNotedFirst) await note(ownership.signal);
  return { outcome: 'ran', slot: register.slot, token: ownership.token, value };
}

function noter(owner: string): Pick<SlotNote, 'by' | 'at'> {
  // eslint-disable-next-line no-restricted-syntax -- for people: nothing is decided by it
  return { by: owner, at: Date.now() };
}

/** What it comes to; rejects with the signal's reason once that has aborted. What goes on then ends by itself. */
function unlessAborted<T>(signal: AbortSignal, task: Promise<T>): Promise<T> {
  // The task first: whatever it rejects with, also later, somebody has listened to it.
  return firstOf(merge(from(task), aborted(signal)));
}
