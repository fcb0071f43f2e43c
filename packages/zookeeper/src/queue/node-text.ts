/**
 * Returns the content of an entry's node: its value. With a naming whose names contain no id, the id precedes
 * the value.
 */
import type { Scheme } from './naming.ts';

const ID_LENGTH = 32;

export function textOf(
  { id, value }: { readonly id: string; readonly value: string },
  scheme: Scheme,
): string {
  return scheme.idIsInText ? `${id} ${value}` : value;
}

/** Returns the value in the content of an entry of any naming. */
export function valueIn(text: string, scheme: Scheme): string {
  return scheme.idIsInText ? text.slice(ID_LENGTH + 1) : text;
}

/** Returns whether the content belongs to the entry with this id. */
export function hasId(text: string, id: string): boolean {
  return text.startsWith(`${id} `);
}
