// Folder "queue": defines the nodes of a queue, and finds the entries ahead of an entry.
// entries.ts (this file) orders the children of a queue. names.ts, naming.ts and marks.ts define their names. foreign.ts finds entries of
// other recipes.

/**
 * Functions for the children of a queue's directory that are entries. A mark near the end of a name (see `marks.ts`) identifies an entry, whatever
 * precedes the mark.
 */
import type { EntrySpec } from '@queuelock/core/backend';
import { parseMarked, type Mark, type Marked } from './marks.ts';
import type { Scheme } from './naming.ts';

/** Returns the name of a new entry. The server appends the sequence number. */
export function entryName(
  { id, shared, limit, permits = 1 }: Pick<EntrySpec, 'id' | 'shared' | 'limit' | 'permits'>,
  { style, exclusive, ...scheme }: Scheme,
): string {
  if (shared && scheme.shared !== undefined) return style.prefix(id) + scheme.shared;
  const takes = limit > 1 || permits > 1 ? style.permits(permits, limit) : '';
  return style.prefix(id) + takes + exclusive;
}

/** Returns the name of the direct predecessor, for a naming whose names contain nothing but a number. There may be no such entry. */
export function nameBefore(sequence: number, { exclusive }: Scheme): string {
  const before = (sequence - 1) | 0;
  const digits = String(Math.abs(before));
  return exclusive + (before < 0 ? `-${digits.padStart(9, '0')}` : digits.padStart(10, '0'));
}

/**
 * Returns the name of the reader's node when an exclusive entry of this package is converted to a reader. It has the writer's number, so the reader
 * is at the same position. It also contains the writer's fencing token, since the token of the new node would be larger than the tokens of entries
 * behind.
 */
export function readerOf(name: string, token: bigint, scheme: Scheme): string {
  const { prefix, number } = ownParts(name, scheme) ?? {};
  if (prefix === undefined || scheme.shared === undefined) return name;
  return `${prefix}${scheme.style.since(token)}${scheme.shared}${number}`;
}

/** Returns the fencing token that a reader of this package had as a writer. Returns `undefined` for any other entry. */
export function keptToken(name: string, scheme: Scheme): bigint | undefined {
  const [, , token] = (scheme.shared !== undefined && scheme.readerShape.exec(name)) || [];
  return token === undefined ? undefined : BigInt(`0x${token}`);
}

/** Returns whether the child is the entry that was enqueued under the name `name`, even if it was converted to a reader since. */
export function isEntryOf(child: string, name: string, scheme: Scheme): boolean {
  if (child === name) return true;
  const token = keptToken(child, scheme);
  return token !== undefined && readerOf(name, token, scheme) === child;
}

/** A parsed entry of the queue. */
export interface Contender {
  readonly name: string;
  /**
   * The number that the server appended: a signed 32-bit number that wraps. `undefined` for a child without a number, which some namings
   * count as an entry ahead of all others.
   */
  readonly sequence: number | undefined;
  /** Whether the entry is shared. Two shared entries do not conflict. */
  readonly shared: boolean;
  /** Permits and limit, if the name contains them, as those of this package do for semaphores. */
  readonly permits?: number;
  readonly limit?: number;
}

/** Parses a child's name; returns `undefined` if the child is not an entry. */
export function parseContender(name: string, scheme: Scheme): Contender | undefined {
  return contenderOf(name, parseMarked(name), scheme);
}

/** Returns the entry with the given name, whose end was parsed before; returns `undefined` if the child is not an entry. */
function contenderOf(name: string, marked: Marked | undefined, scheme: Scheme): Contender | undefined {
  const { mark, sequence } = marked ?? {};
  if (scheme.countsAll) return { name, sequence, shared: false, ...permitsIn(name, scheme) };
  if (mark === undefined) return undefined;
  if (mark === scheme.shared) return { name, sequence, shared: true };
  const isExclusive = mark === scheme.exclusive || scheme.others.includes(mark);
  return isExclusive ? { name, sequence, shared: false, ...permitsIn(name, scheme) } : undefined;
}

/** An entry of another naming. Its client and the clients of this queue do not wait for each other. */
export interface ForeignEntry {
  readonly name: string;
  readonly mark: Mark;
}

/** The children of a queue's directory by kind. Each kind is in the order of the list. */
export interface ParsedChildren {
  /** The entries of the queue's naming. */
  readonly contenders: readonly Contender[];
  /** The first entry of another naming, if there is one. */
  readonly foreign: ForeignEntry | undefined;
  /** The children that are not entries of any naming. */
  readonly others: readonly string[];
}

/** Parses the children of a queue's directory, each name once. */
export function parseChildren(children: readonly string[], scheme: Scheme): ParsedChildren {
  const contenders: Contender[] = [];
  const others: string[] = [];
  let foreign: ForeignEntry | undefined;
  for (const name of children) {
    const marked = parseMarked(name);
    const contender = contenderOf(name, marked, scheme);
    if (contender) contenders.push(contender);
    else if (marked) foreign ??= { name, mark: marked.mark };
    else others.push(name);
  }
  return { contenders, foreign, others };
}

function permitsIn(name: string, scheme: Scheme): Pick<Contender, 'permits' | 'limit'> {
  // Both parts are written as `2of5`. Most names have neither, and need no regular expression.
  if (!name.includes('of')) return NO_PERMITS;
  const { permits = 0, limit = 0 } = ownParts(name, scheme) ?? {};
  return permits >= 1 && permits <= limit && Number.isSafeInteger(limit) ? { permits, limit } : NO_PERMITS;
}

const NO_PERMITS = {};

interface OwnParts {
  readonly prefix: string;
  readonly permits: number;
  readonly limit: number;
  readonly number: string;
}

/** Parses the name of an exclusive entry of this package; returns `undefined` for other names. */
function ownParts(name: string, { shape }: Scheme): OwnParts | undefined {
  const [, prefix, permits = '0', limit = '0', number] = shape.exec(name) ?? [];
  if (prefix === undefined || number === undefined) return undefined;
  return { prefix, permits: Number(permits), limit: Number(limit), number };
}

/** Returns how many sequence numbers `later` is behind `earlier` in the queue. Correct unless 2^31 entries or more are in between. */
export function distance(earlier: number, later: number): number {
  return (later - earlier) | 0;
}

/**
 * Converts a sequence number to an order number. The server's numbers continue at -2^31 after 2^31 - 1, while
 * order numbers keep growing. The result is right for the first 2^32 entries of a directory.
 */
export function orderOf(sequence: number | undefined): bigint {
  return sequence === undefined ? -1n : BigInt(sequence >>> 0);
}

/** Returns those children that are entries, in order; see `inOrder`. */
export function contendersIn(children: readonly string[], scheme: Scheme): Contender[] {
  return inOrder(parseChildren(children, scheme).contenders);
}

/**
 * Sorts entries by their position in the queue. While a writer is converted to a reader, its two nodes have the same number, and the writer's node
 * comes first.
 */
function inOrder(found: readonly Contender[]): Contender[] {
  const origin = found.find(({ sequence }) => sequence !== undefined)?.sequence ?? 0;
  const rank = ({ sequence }: Contender): number =>
    sequence === undefined ? -Infinity : distance(origin, sequence);
  return found.toSorted((a, b) => difference(rank(a), rank(b)) || Number(a.shared) - Number(b.shared));
}

function difference(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** Returns those children that are entries of the queue, in order; see `entriesOf`. */
export function entriesIn(children: readonly string[], scheme: Scheme): Contender[] {
  return entriesOf(parseChildren(children, scheme));
}

/** Returns the entries of the queue in order. A writer that is being converted is replaced by its reader, once that exists. */
export function entriesOf({ contenders }: Pick<ParsedChildren, 'contenders'>): Contender[] {
  const found = inOrder(contenders);
  return found.filter(({ shared, sequence }, at) => {
    const next = found[at + 1];
    return shared || !next?.shared || next.sequence !== sequence;
  });
}

/** Returns the entries ahead of `own` that conflict with it, nearest first. */
export function conflictsAhead(contenders: readonly Contender[], own: Contender): Contender[] {
  const { sequence: last } = own;
  if (last === undefined) return [];
  const howFar = ({ sequence }: Contender): number =>
    sequence === undefined ? Infinity : distance(sequence, last);
  return contenders
    .filter((other) => howFar(other) > 0 && !(other.shared && own.shared))
    .sort((a, b) => difference(howFar(b), howFar(a)) || Number(a.shared) - Number(b.shared))
    .reverse();
}

/**
 * Returns the limit of the nearest entry ahead whose limit differs from `limit`, the limit of the entry `own`. A reader ahead counts as an entry with
 * limit 1.
 */
export function otherLimitAhead(
  ahead: readonly Contender[],
  { own, limit, scheme }: { readonly own: Contender; readonly limit: number; readonly scheme: Scheme },
): number | undefined {
  if (own.shared) return undefined;
  return ahead
    .map((entry) => entry.limit ?? (entry.shared ? 1 : scheme.defaultLimit))
    .find((other) => other !== undefined && other !== limit);
}
