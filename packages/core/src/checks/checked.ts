import { checkedObject } from './checked-options.ts';
import { invalidArgument } from '../api/errors.ts';
import { fits } from '../base/utf8.ts';

// Longest timeout in milliseconds. `setTimeout` fires at once for a longer one.
export const MAX_TIMER_MS = 2_147_483_647;

const MAX_USER_BYTES = 1_024;

/** Returns the text if it takes at most 1,024 bytes in UTF-8, and throws otherwise. */
export function checkedSize(argument: string, value: string): string {
  if (fits(value, MAX_USER_BYTES)) return value;
  throw invalidArgument(
    argument,
    `${String(Buffer.byteLength(value))} bytes`,
    `is at most ${String(MAX_USER_BYTES)} bytes of UTF-8`,
  );
}

/** Returns the value if it is a text that an entry can store, and throws otherwise. */
export function checkedText(argument: string, value: string | undefined): string {
  if (typeof value !== 'string') throw invalidArgument(argument, value, 'is a string');
  return checkedSize(argument, value);
}

/** Returns the object if all its values are texts and an entry can store it as JSON, and throws otherwise. */
export function checkedTexts(
  argument: string,
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  for (const [key, value] of Object.entries(checkedObject(argument, texts)))
    checkedText(`${argument}.${key}`, value);
  checkedSize(`${argument} as JSON`, JSON.stringify(texts));
  return texts;
}

/** Checks a whole number from 1 to `max`. */
export function count(argument: string, value: number, max: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= max) return value;
  throw invalidArgument(argument, value, `is a whole number from 1 to ${String(max)}`);
}

/** Checks a number of milliseconds. */
export function within(
  argument: string,
  value: number,
  range: { min: number; max: number; why?: string },
): void {
  if (typeof value === 'number' && value >= range.min && value <= range.max) return;
  throw invalidArgument(
    argument,
    value,
    `is a number of milliseconds from ${String(range.min)} to ${String(range.max)}${range.why ?? ''}`,
  );
}
