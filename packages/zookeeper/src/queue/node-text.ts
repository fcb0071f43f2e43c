/** What is written into the node of an entry: its value, behind its id where the node's name does not tell that. */
import type { Scheme } from './naming.ts';

const ID_LENGTH = 32;

export function textOf(
  { id, value }: { readonly id: string; readonly value: string },
  scheme: Scheme,
): string {
  return scheme.idIsInText ? `${id} ${value}` : value;
}

/** The value in a text; of an entry of any kind. */
export function valueIn(text: string, scheme: Scheme): string {
  return scheme.idIsInText ? text.slice(ID_LENGTH + 1) : text;
}

/** Whether the text is that of the entry with this id. */
export function hasId(text: string, id: string): boolean {
  return text.startsWith(`${id} `);
}
