import { invalidArgument } from '@queuelock/core/backend';

/** A slot as `oncePer` accepts it. */
export type Slot = string | number | Date;

/** The stored note of a slot whose work was begun or done. */
export interface SlotNote {
  readonly slot: string;
  /** Fencing token of the hold under which the slot was noted. */
  readonly token: bigint;
  /** The `owner` of the call that noted the slot. */
  readonly by: string;
  /** Time of the note in milliseconds since 1970, by the clock of the client that wrote it. It is for people only. */
  readonly at: number;
}

/**
 * Maximum length of a slot, so that its note fits into a register of 4,096 bytes even if JSON has to escape
 * every character.
 */
const MAX_LENGTH = 256;

/**
 * Returns a slot as it is stored.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a value that is not a slot
 */
export function slotText(slot: Slot): string {
  if (slot instanceof Date) {
    const year = slot.getUTCFullYear();
    if (year >= 0 && year <= 9_999) return slot.toISOString();
  } else if (typeof slot === 'number') {
    if (Number.isSafeInteger(slot) && slot >= 0) return String(slot);
  } else if (typeof slot === 'string' && slot.length > 0 && slot.length <= MAX_LENGTH) return slot;
  throw invalidArgument(
    'slot',
    slot,
    `is a Date of the years 0 to 9999, a whole number from 0 up, or a text of 1 to ${MAX_LENGTH} characters`,
  );
}
