import { invalidArgument } from '@queuelock/core/backend';
import type { SlotOrder } from './slot-order.ts';
import type { SlotNote } from './slot.ts';

/** The notes of the newest slots whose work was begun or done, as a register stores them. */
export interface SlotNotes {
  /** The notes, the newest slot first. There is at least one. */
  readonly notes: readonly [SlotNote, ...SlotNote[]];
  /**
   * The newest slot whose note was dropped, or may have been dropped (see `notesIn`). A call for this slot or
   * an older one does no work. It is `superseded` if the slot has no note. `undefined` if every note is kept.
   */
  readonly floor: string | undefined;
}

/** The latest moment that a `Date` can represent, in milliseconds since 1970. */
const LATEST_TIME = 8_640_000_000_000_000;
/** Bytes for the notes in a register: its size of 4,096 bytes less the text around the notes. */
const ROOM_BYTES = 4_000;

/**
 * Checks that a note is small enough for `kept` such notes to fit into a register.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a note that is too long
 */
export function checkNoteSize({ slot, by }: Pick<SlotNote, 'slot' | 'by'>, kept: number): void {
  // 80 bytes are enough for the longest token and the longest time, including the names of all members of the
  // JSON object.
  const size = 80 + Buffer.byteLength(JSON.stringify(slot)) + Buffer.byteLength(JSON.stringify(by));
  const most = Math.floor(ROOM_BYTES / kept);
  if (kept > 1 && size > most)
    throw invalidArgument(
      'slot',
      slot,
      `is at most ${most} bytes together with owner, so that ${kept} notes fit`,
    );
}

/** Adds a note, and drops all but the newest `kept` notes. */
export function withNote(
  present: SlotNotes | undefined,
  note: SlotNote,
  { kept, order }: { readonly kept: number; readonly order: SlotOrder },
): SlotNotes {
  // A client that keeps only one note drops all earlier notes without reading them, so the order of slots is
  // not needed.
  if (kept === 1) return { notes: [note], floor: note.slot };
  const [newest, ...rest] = inOrder(note, present?.notes ?? [], order);
  return { notes: [newest, ...rest.slice(0, kept - 1)], floor: rest[kept - 1]?.slot ?? present?.floor };
}

/** Inserts a note into the list, which is sorted by slots, the newest first. */
function inOrder(
  note: SlotNote,
  [newest, ...rest]: readonly SlotNote[],
  order: SlotOrder,
): readonly [SlotNote, ...SlotNote[]] {
  if (!newest || order(note.slot, newest.slot) > 0) return [note, ...(newest ? [newest] : []), ...rest];
  return [newest, ...inOrder(note, rest, order)];
}

/**
 * Returns the text for a register. If older notes were dropped and only one note is left, the text is that
 * note alone, as clients that keep only one note write it.
 */
export function notesText({ notes: [latest, ...earlier], floor }: SlotNotes): string {
  if (earlier.length === 0 && floor === latest.slot) return JSON.stringify(plain(latest));
  return JSON.stringify({
    ...plain(latest),
    earlier: earlier.map(plain),
    ...(floor === undefined ? {} : { floor }),
  });
}

function plain({ slot, token, by, at }: SlotNote): object {
  return { slot, token: String(token), by, at };
}

/**
 * Reads the notes from the text of a register.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a text that `oncePer` did not write
 */
export function notesIn(text: string | undefined): SlotNotes | undefined {
  if (text === undefined) return undefined;
  const found = Object(parse(text)) as Readonly<Record<string, unknown>>;
  const { earlier, floor } = found;
  const rest: readonly unknown[] = Array.isArray(earlier) ? earlier : [];
  const [latest, ...others] = [found, ...rest].flatMap((part) => noteIn(part) ?? []);
  const isWhole = others.length === rest.length && (floor === undefined || typeof floor === 'string');
  if (!latest || !isWhole)
    throw invalidArgument('the register of the slots', text, 'contains what oncePer wrote');
  // A text without the member `earlier` was written by a client that keeps only one note. That client has
  // dropped the notes of all older slots.
  return { notes: [latest, ...others], floor: earlier === undefined ? latest.slot : floor };
}

function noteIn(part: unknown): SlotNote | undefined {
  const { slot, token, by, at } = Object(part) as Partial<Record<keyof SlotNote, unknown>>;
  if (typeof slot !== 'string' || typeof token !== 'string' || !/^\d+$/.test(token)) return undefined;
  if (typeof by !== 'string' || typeof at !== 'number' || Math.abs(at) > LATEST_TIME) return undefined;
  return { slot, token: BigInt(token), by, at };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The text is not JSON. `notesIn` then throws, because `oncePer` did not write it.
  }
}
