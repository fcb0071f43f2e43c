import { invalidArgument } from '@queuelock/core/backend';
import type { SlotOrder } from './slot-order.ts';
import type { SlotNote } from './slot.ts';

/** The notes in a register: the newest slots whose work was begun or done. */
export interface SlotNotes {
  /** The notes, with the newest slot first; at least one. */
  readonly notes: readonly [SlotNote, ...SlotNote[]];
  /**
   * The newest slot whose note was dropped or may have been dropped. This slot and all slots before it are past. `undefined` if every note is kept.
   */
  readonly floor: string | undefined;
}

/** The latest moment that a `Date` can represent, in milliseconds since 1970. */
const LATEST_TIME = 8_640_000_000_000_000;
/** Room for the notes in a register, in bytes: its size of 4,096 bytes less the text around the notes. */
const ROOM_BYTES = 4_000;

/**
 * Checks that as many notes as are kept fit into a register.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a note that takes more than its share
 */
export function checkNoteSize({ slot, by }: Pick<SlotNote, 'slot' | 'by'>, kept: number): void {
  // The longest token and time take fewer than 80 bytes with the names of the members.
  const size = 80 + Buffer.byteLength(JSON.stringify(slot)) + Buffer.byteLength(JSON.stringify(by));
  const most = Math.floor(ROOM_BYTES / kept);
  if (kept > 1 && size > most)
    throw invalidArgument(
      'slot',
      slot,
      `is at most ${most} bytes together with owner, so that ${kept} notes fit`,
    );
}

/** Returns the notes with one more. Only the newest `kept` of them stay. */
export function withNote(
  present: SlotNotes | undefined,
  note: SlotNote,
  { kept, order }: { readonly kept: number; readonly order: SlotOrder },
): SlotNotes {
  // A client that keeps only one note does not know the notes before it.
  if (kept === 1) return { notes: [note], floor: note.slot };
  const [newest, ...rest] = inOrder(note, present?.notes ?? [], order);
  return { notes: [newest, ...rest.slice(0, kept - 1)], floor: rest[kept - 1]?.slot ?? present?.floor };
}

/** Inserts a note in the order of its slot, the newest first. */
function inOrder(
  note: SlotNote,
  [newest, ...rest]: readonly SlotNote[],
  order: SlotOrder,
): readonly [SlotNote, ...SlotNote[]] {
  if (!newest || order(note.slot, newest.slot) > 0) return [note, ...(newest ? [newest] : []), ...rest];
  return [newest, ...inOrder(note, rest, order)];
}

/** Returns the text of a register. With one note, it has the format of a client that keeps only one note. */
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
  // Where a client kept only one note, the notes before it were dropped.
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
    return undefined; // Returns no notes for a text that `oncePer` did not write, which the caller rejects.
  }
}
