import { hostname } from 'node:os';
import type { LockClient, SharedRegister } from '@queuelock/core';
import {
  checkedOptions,
  invalidArgument,
  jsonable,
  waitOf,
  type KnownOptions,
} from '@queuelock/core/backend';
import type { OncePer, OncePerOptions, SlotOptions, SlotOutcome, SlotWork } from './once-per-api.ts';
import { wholeNumber } from './arguments.ts';
import { WAIT_OPTIONS, checkWait } from './wait-limit.ts';
import { callFor } from './slot-call.ts';
import { checkedOrder, compareSlots, type SlotOrder } from './slot-order.ts';
import { SlotRegister } from './slot-register.ts';
import { checkNoteSize, notesIn } from './slot-notes.ts';
import { slotText, type Slot, type SlotNote } from './slot.ts';

const OPTIONS: KnownOptions<OncePerOptions> = {
  guarantee: 'any',
  owner: 'string',
  compare: 'function',
  lateSlots: 'number',
};
const RUN_OPTIONS: KnownOptions<SlotOptions> = { ...WAIT_OPTIONS, workTimeoutMs: 'number' };
const GUARANTEES: ReadonlySet<unknown> = new Set(['at-most-once', 'at-least-once']);
/** Maximum length of an owner, so that a note fits into a register even if JSON has to escape every character. */
const LONGEST_OWNER = 128;
const MOST_LATE_SLOTS = 15;

/**
 * Returns work that is done once per slot: by one of all instances that call for the slot, however late they call and whatever their clocks show. A
 * slot is for instance the time of a cron job, a day or a version. The result of each call names the instance that did the work.
 *
 *     noted? ── no: wait for the lock ── noted meanwhile? ── no: note the slot, then work   (at-most-once)
 *                                                            or: work, then note the slot   (at-least-once)
 *
 * The latest slot, and with `lateSlots` some before it, is kept in a register beside the queue of that name, with the token of the hold.
 * The register outlives all processes. A late call never replaces a newer slot, nor the note of a later holder. At any time at most one
 * client does work of the name, whatever the slot, unless a holder is paused.
 *
 * Not promised:
 * - That a slot is done for which no instance calls, and with `at-most-once` that a slot is done at all.
 * - That a paused process does nothing late. Its writes are rejected only where its token is compared.
 * - That slots of one name are of one form. A slot that cannot be ordered with the latest one rejects with `INVALID_ARGUMENT`.
 * - That the older of two waiting slots comes first. If it comes second, it is skipped, unless `lateSlots` allows it.
 * - That a wrong clock does no harm. A slot in the far future makes all slots before it `superseded` until `forget` is called.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name that the backend cannot hold, or a backend without registers. The methods reject
 *   with it when the register holds another text
 * @example
 * const report = oncePer(client, 'daily-report');
 * const result = await report.run('2026-11-24', async ({ token }, stop) => {
 *   await sendReport({ token, signal: stop });
 * });
 * if (result.outcome === 'already-done') console.log('done by', result.by);
 */
export function oncePer(client: LockClient, name: string, options?: OncePerOptions): OncePer {
  const checked = checkedOptions('options of oncePer', options, OPTIONS);
  const { guarantee = 'at-most-once', owner = `${hostname()}:${process.pid}` } = checked;
  if (!GUARANTEES.has(guarantee))
    throw invalidArgument('guarantee', guarantee, "is 'at-most-once' or 'at-least-once'");
  if (owner.length > LONGEST_OWNER)
    throw invalidArgument('owner', owner, `has at most ${LONGEST_OWNER} characters`);
  const order = checked.compare ? checkedOrder(checked.compare) : compareSlots;
  const lateSlots = wholeNumber('lateSlots', checked.lateSlots ?? 0, { min: 0, max: MOST_LATE_SLOTS });
  return new SlotBySlot(client, name, { guarantee, owner, order, kept: lateSlots + 1 });
}

interface Settings extends Required<Pick<OncePerOptions, 'guarantee' | 'owner'>> {
  readonly order: SlotOrder;
  /** Number of notes that the register of the name keeps. */
  readonly kept: number;
}

class SlotBySlot implements OncePer {
  readonly name: string;
  readonly #client: LockClient;
  readonly #settings: Settings;
  readonly #register: SharedRegister;

  constructor(client: LockClient, name: string, settings: Settings) {
    this.name = name;
    this.#client = client;
    this.#settings = settings;
    this.#register = client.register(name, 'slot');
  }

  async run<T>(slot: Slot, work: SlotWork<T>, options?: SlotOptions): Promise<SlotOutcome<Awaited<T>>> {
    const checked = checkedOptions('options of run', options, RUN_OPTIONS);
    checkWait(waitOf(checked).wait, 1);
    if (typeof work !== 'function') throw invalidArgument('work', work, 'is a function');
    const { guarantee, owner, order, kept } = this.#settings;
    const text = slotText(slot);
    checkNoteSize({ slot: text, by: owner }, kept);
    const register = new SlotRegister(this.#register, text, { order, kept });
    const terms = { client: this.#client, name: this.name, register, guarantee, owner };
    return jsonable(await callFor(terms, work, checked));
  }

  async latest(): Promise<SlotNote | undefined> {
    const note = notesIn(await this.#register.read())?.notes[0];
    return note && jsonable(note);
  }

  async forget(): Promise<void> {
    await this.#register.change(() => undefined);
  }
}
