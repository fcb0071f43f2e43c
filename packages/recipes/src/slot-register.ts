import { QueueLockError, type Ownership, type SharedRegister } from '@queuelock/core';
import { liveText } from './live-text.ts';
import type { SlotOutcome } from './once-per-api.ts';
import { map, type Observable } from './rx.ts';
import { notesIn, notesText, withNote, type SlotNotes } from './slot-notes.ts';
import type { SlotOrder } from './slot-order.ts';
import type { SlotNote } from './slot.ts';

/** The outcome of a call that does not do the work, because the slot is already done or superseded. */
export type PastSlot = Exclude<SlotOutcome<never>, { readonly outcome: 'ran' }>;

/** Reads and writes the notes of one name, for a call for one slot. */
export class SlotRegister {
  readonly slot: string;
  readonly #register: SharedRegister;
  readonly #order: SlotOrder;
  /** Number of notes that the register keeps. */
  readonly #kept: number;

  constructor(
    register: SharedRegister,
    slot: string,
    { order, kept }: { readonly order: SlotOrder; readonly kept: number },
  ) {
    this.slot = slot;
    this.#register = register;
    this.#order = order;
    this.#kept = kept;
  }

  /**
   * Returns the outcome of the call if the slot must not be done, or `undefined` if it may be done.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when the slot cannot be ordered with the noted slots; the
   *   method `note` throws it too
   */
  async past(): Promise<PastSlot | undefined> {
    return this.#pastFor(notesIn(await this.#register.read()));
  }

  /**
   * Emits the outcome of the call if the slot must not be done, and `undefined` as long as it may be done: at
   * once, then after each change. Emits nothing while the server cannot be reached.
   */
  get past$(): Observable<PastSlot | undefined> {
    return liveText(this.#register.state$).pipe(map((text) => this.#pastFor(notesIn(text))));
  }

  /**
   * Writes the note of the slot. Does not write it if the slot must not be done, the signal `until` has
   * aborted, or a later holder has noted a slot. The register is written by compare-and-set. So a write with
   * an outdated text, for instance after a pause of the process, fails, and the register is read again.
   * @returns the outcome of the call if the slot was not noted, or `undefined` if it was
   * @throws {QueueLockError} `OWNERSHIP_LOST` when a later holder has noted a slot; the reason of `until`
   */
  async note(
    { name, token }: Ownership,
    by: Pick<SlotNote, 'by' | 'at'>,
    until: AbortSignal,
  ): Promise<PastSlot | undefined> {
    const text = await this.#register.change((present) => {
      const past = notesIn(present);
      const isLate = past?.notes.some((note) => note.token > token) ?? false;
      // Leaves the register unchanged if the slot must not be noted, or is already noted. An earlier attempt
      // of this call may have written the note, although its reply was lost. Throws nothing, because the
      // register's `change` would retry after an error.
      if (this.#pastFor(past) || until.aborted || isLate) return present;
      const note = { slot: this.slot, token, ...by };
      return notesText(withNote(past, note, { kept: this.#kept, order: this.#order }));
    });
    const noted = notesIn(text);
    if (noted?.notes.some((note) => note.token === token && note.slot === this.slot)) return undefined;
    const past = this.#pastFor(noted);
    if (past) return past;
    until.throwIfAborted();
    throw new QueueLockError('OWNERSHIP_LOST', `a later holder of ${JSON.stringify(name)} has noted a slot`);
  }

  #pastFor(noted: SlotNotes | undefined): PastSlot | undefined {
    if (!noted) return undefined;
    const { notes, floor } = noted;
    const own = notes.find(({ slot }) => this.#order(slot, this.slot) === 0);
    if (own) return { outcome: 'already-done', ...own };
    const oldest = notes[this.#kept - 1]?.slot;
    const isPast = [oldest, floor].some((slot) => slot !== undefined && this.#order(slot, this.slot) >= 0);
    return isPast ? { outcome: 'superseded', ...notes[0] } : undefined;
  }
}
