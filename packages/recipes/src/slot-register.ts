import { QueueLockError, type Ownership, type SharedRegister } from '@queuelock/core';
import { liveText } from './live-text.ts';
import type { SlotOutcome } from './once-per-api.ts';
import { map, type Observable } from './rx.ts';
import type { SlotOrder } from './slot-order.ts';
import { noteIn, noteText, type SlotNote } from './slot.ts';

/** Why a call must not do the work. */
export type PastSlot = Exclude<SlotOutcome<never>, { readonly outcome: 'ran' }>;

/** The register of the slots, from the view of one slot. */
export class SlotRegister {
  readonly slot: string;
  readonly #register: SharedRegister;
  readonly #compare: SlotOrder;

  constructor(register: SharedRegister, slot: string, compare: SlotOrder) {
    this.slot = slot;
    this.#register = register;
    this.#compare = compare;
  }

  /**
   * Returns why the slot must not be done at present, or `undefined` if it may be done.
   * @throws {QueueLockError} `INVALID_ARGUMENT` when it cannot be ordered with the latest slot, here and below
   */
  async past(): Promise<PastSlot | undefined> {
    return this.#pastFor(noteIn(await this.#register.read()));
  }

  /** Emits the result of `past` at once, then after each change. Emits nothing while the server cannot be reached. */
  get past$(): Observable<PastSlot | undefined> {
    return liveText(this.#register.state$).pipe(map((text) => this.#pastFor(noteIn(text))));
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
      const last = noteIn(present);
      // The call's own note, after a lost answer, counts as past too. An error thrown here would repeat the change.
      if (this.#pastFor(last) || until.aborted || (last && last.token > token)) return present;
      return noteText({ slot: this.slot, token, ...by });
    });
    const noted = noteIn(text);
    if (noted?.token === token && noted.slot === this.slot) return undefined;
    const past = this.#pastFor(noted);
    if (past) return past;
    until.throwIfAborted();
    throw new QueueLockError('OWNERSHIP_LOST', `a later holder of ${JSON.stringify(name)} has noted a slot`);
  }

  #pastFor(note: SlotNote | undefined): PastSlot | undefined {
    if (!note) return undefined;
    const order = this.#compare(note.slot, this.slot);
    if (order < 0) return undefined;
    return { outcome: order === 0 ? 'already-done' : 'superseded', ...note };
  }
}
