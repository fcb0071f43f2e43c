import { QueueLockError, type Ownership, type SharedRegister } from '@queuelock/core';
import { liveText } from './live-text.ts';
import type { SlotOutcome } from './once-per-api.ts';
import { map, type Observable } from './rx.ts';
import { notesIn, notesText, withNote, type SlotNotes } from './slot-notes.ts';
import type { SlotOrder } from './slot-order.ts';
import type { SlotNote } from './slot.ts';

/** The reason for which a call must not do the work. */
export type PastSlot = Exclude<SlotOutcome<never>, { readonly outcome: 'ran' }>;

/** The register with the noted slots of one name, for a call that is about one slot. */
export class SlotRegister {
  readonly slot: string;
  readonly #register: SharedRegister;
  readonly #order: SlotOrder;
  /** Number of notes that are kept. */
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
   * Returns why the slot must not be done at present, or `undefined` if it may be done.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when the slot cannot be ordered with the noted slots; `note` throws it too
   */
  async past(): Promise<PastSlot | undefined> {
    return this.#pastFor(notesIn(await this.#register.read()));
  }

  /** Emits the result of `past` at once, then after each change. Emits nothing while the server cannot be reached. */
  get past$(): Observable<PastSlot | undefined> {
    return liveText(this.#register.state$).pipe(map((text) => this.#pastFor(notesIn(text))));
  }

  /**
   * Notes the slot, unless it is past, `until` has aborted, or a later holder has noted a slot. The register is written by compare and set.
   * So a process that was paused between read and write reads again, and finds that it is late.
   * @returns why the slot was not noted, or `undefined` if it was
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
      // The call's own note, after a lost answer, counts as past too. An error thrown here would repeat the change.
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
