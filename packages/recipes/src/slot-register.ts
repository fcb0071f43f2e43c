import { QueueLockError, type Ownership, type SharedRegister } from '@queuelock/core';
import { liveText } from './live-text.ts';
import type { SlotOutcome } from './once-per-api.ts';
import { map, type Observable } from './rx.ts';
import { compareSlots, noteIn, noteText, type SlotNote } from './slot.ts';

/** What keeps a call from doing the work. */
export type PastSlot = Exclude<SlotOutcome<never>, { readonly outcome: 'ran' }>;

/** The register of the slots, as one slot sees it. */
export class SlotRegister {
  readonly slot: string;
  readonly #register: SharedRegister;

  constructor(register: SharedRegister, slot: string) {
    this.slot = slot;
    this.#register = register;
  }

  /** Why the slot is not to be done, at present; `undefined`: it is. */
  async past(): Promise<PastSlot | undefined> {
    return this.#pastFor(noteIn(await this.#register.read()));
  }

  /** The same, now and at every change; silent while the server cannot be reached. */
  get past$(): Observable<PastSlot | undefined> {
    return liveText(this.#register.state$).pipe(map((text) => this.#pastFor(noteIn(text))));
  }

  /**
   * Notes the slot, unless it is past, `until` has aborted, or a later holder has noted one. The register is written only as it was
   * looked at: whoever stood still in between looks again, and finds itself late.
   * @returns why it was not noted.
   */
  async note(
    { name, token }: Ownership,
    by: Pick<SlotNote, 'by' | 'at'>,
    until: AbortSignal,
  ): Promise<PastSlot | undefined> {
    const text = await this.#register.change((present) => {
      const last = noteIn(present);
      // Its own, after a lost answer, is past too. To throw here would have it repeated.
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
    const order = compareSlots(note.slot, this.slot);
    if (order < 0) return undefined;
    return { outcome: order === 0 ? 'already-done' : 'superseded', ...note };
  }
}
