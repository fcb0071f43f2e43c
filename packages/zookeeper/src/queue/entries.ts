// Chapter queue: how does a queue stand in the tree, and who is ahead in it?
// names, naming and marks: who is called what. Here: the children that stand in line, in their order. foreign: who does not wait for us.

/** The children of a queue's directory that stand in line. Whatever stands before mark and number, they count. */
import type { EntrySpec } from '@queuelock/core/backend';
import { parseMarked } from './marks.ts';
import type { Scheme } from './naming.ts';

/** The name of a new entry; the server appends the sequence number. */
export function entryName(
  { id, shared, limit, permits = 1 }: Pick<EntrySpec, 'id' | 'shared' | 'limit' | 'permits'>,
  { style, exclusive, ...scheme }: Scheme,
): string {
  if (shared && scheme.shared !== undefined) return style.prefix(id) + scheme.shared;
  const takes = limit > 1 || permits > 1 ? style.takes(permits, limit) : '';
  return style.prefix(id) + takes + exclusive;
}

/** The name of the entry right ahead, where names have nothing in them but the number. It need not be there. */
export function nameBefore(sequence: number, { exclusive }: Scheme): string {
  const before = (sequence - 1) | 0;
  const digits = String(Math.abs(before));
  return exclusive + (before < 0 ? `-${digits.padStart(9, '0')}` : digits.padStart(10, '0'));
}

/**
 * The name of the reader that an exclusive entry of ours turns into: with the same number, so at the same place, and with its token,
 * which would be lost otherwise: that of the new node is larger than those of some who come after.
 */
export function readerOf(name: string, token: bigint, scheme: Scheme): string {
  const { prefix, number } = ownParts(name, scheme) ?? {};
  if (prefix === undefined || scheme.shared === undefined) return name;
  return `${prefix}${scheme.style.since(token)}${scheme.shared}${number}`;
}

/** The token that a reader of ours had as a writer, and keeps; nothing for any other entry. */
export function keptToken(name: string, scheme: Scheme): bigint | undefined {
  const [, , token] = (scheme.shared !== undefined && scheme.readerShape.exec(name)) || [];
  return token === undefined ? undefined : BigInt(`0x${token}`);
}

/** Whether it is the entry that had this name when it entered: that one, or the reader that it turned into. */
export function isEntryOf(child: string, name: string, scheme: Scheme): boolean {
  if (child === name) return true;
  const token = keptToken(child, scheme);
  return token !== undefined && readerOf(name, token, scheme) === child;
}

/** A child that stands in the queue. */
export interface Contender {
  readonly name: string;
  /** A signed 32-bit number that wraps; nothing for a child that counts without one, and is ahead of all others. */
  readonly sequence: number | undefined;
  /** Two of them do not conflict. */
  readonly shared: boolean;
  /** What an exclusive entry of ours says about itself; nothing if it says nothing. */
  readonly permits?: number;
  readonly limit?: number;
}

/** Reads a child's name; `undefined` for one that is no entry. */
export function parseContender(name: string, scheme: Scheme): Contender | undefined {
  const { mark, sequence } = parseMarked(name) ?? {};
  if (scheme.countsAll) return { name, sequence, shared: false, ...permitsIn(name, scheme) };
  if (mark === undefined) return undefined;
  if (mark === scheme.shared) return { name, sequence, shared: true };
  const isExclusive = mark === scheme.exclusive || scheme.others.includes(mark);
  return isExclusive ? { name, sequence, shared: false, ...permitsIn(name, scheme) } : undefined;
}

function permitsIn(name: string, scheme: Scheme): Pick<Contender, 'permits' | 'limit'> {
  const { permits = 0, limit = 0 } = ownParts(name, scheme) ?? {};
  return permits >= 1 && permits <= limit && Number.isSafeInteger(limit) ? { permits, limit } : {};
}

interface OwnParts {
  readonly prefix: string;
  readonly permits: number;
  readonly limit: number;
  readonly number: string;
}

/** Of an exclusive entry of ours. */
function ownParts(name: string, { shape }: Scheme): OwnParts | undefined {
  const [, prefix, permits = '0', limit = '0', number] = shape.exec(name) ?? [];
  if (prefix === undefined || number === undefined) return undefined;
  return { prefix, permits: Number(permits), limit: Number(limit), number };
}

/** How far `later` stands behind `earlier`; right as long as fewer than 2^31 creates lie between the two. */
export function distance(earlier: number, later: number): number {
  return (later - earlier) | 0;
}

/** A sequence number as an order that grows through the wrap at 2^31, for the first 2^32 entries of a directory. */
export function orderOf(sequence: number | undefined): bigint {
  return sequence === undefined ? -1n : BigInt(sequence >>> 0);
}

/** The entries among these children, in order; those of one number keep a writer before the reader it turned into. */
export function contendersIn(children: readonly string[], scheme: Scheme): Contender[] {
  const found = children
    .map((name) => parseContender(name, scheme))
    .filter((contender) => contender !== undefined);
  const origin = found.find(({ sequence }) => sequence !== undefined)?.sequence ?? 0;
  const rank = ({ sequence }: Contender): number =>
    sequence === undefined ? -Infinity : distance(origin, sequence);
  return found.sort((a, b) => difference(rank(a), rank(b)) || Number(a.shared) - Number(b.shared));
}

function difference(a: number, b: number): number {
  return a === b ? 0 : a - b;
}

/** The entries as they stand: a writer that turns into a reader is the reader as soon as that is there. */
export function standingIn(children: readonly string[], scheme: Scheme): Contender[] {
  const found = contendersIn(children, scheme);
  return found.filter(({ shared, sequence }, at) => {
    const next = found[at + 1];
    return shared || !next?.shared || next.sequence !== sequence;
  });
}

/** The entries ahead of `own` that conflict with it, nearest first. */
export function conflictsAhead(
  children: readonly string[],
  { own, scheme }: { readonly own: Contender; readonly scheme: Scheme },
): Contender[] {
  return contendersIn(children, scheme)
    .filter((other) => isAhead(other, own) && !(other.shared && own.shared))
    .reverse();
}

function isAhead(other: Contender, own: Contender): boolean {
  if (own.sequence === undefined) return false;
  return other.sequence === undefined || distance(other.sequence, own.sequence) > 0;
}

/** The limit of an entry ahead that is another than the one that `own` goes by; the nearest such one. Readers have the limit of locks. */
export function otherLimitAhead(
  ahead: readonly Contender[],
  { own, limit, scheme }: { readonly own: Contender; readonly limit: number; readonly scheme: Scheme },
): number | undefined {
  if (own.shared) return undefined;
  return ahead
    .map((entry) => entry.limit ?? (entry.shared ? 1 : scheme.unsaidLimit))
    .find((other) => other !== undefined && other !== limit);
}
