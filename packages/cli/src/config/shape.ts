import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** A mistake in the configuration. The message must not repeat what is in the file, which may be a password. */
export function misconfigured(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage });
}

/** @param where file and field, for the message. @throws {Failure} unless the value is an object with no other fields than these */
export function fieldsOf(where: string, value: unknown, known?: readonly string[]): Fields {
  if (!isObject(value)) throw misconfigured(`${where} must be an object`);
  const stranger = known && Object.keys(value).find((key) => !known.includes(key));
  if (known && stranger !== undefined)
    throw misconfigured(`${where} has an unknown field ${stranger}; known are ${known.join(', ')}`);
  return value;
}

/** @throws {Failure} unless it is absent, or a text that is not empty */
export function textIn(where: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw misconfigured(`${where} must be a text that is not empty`);
}

/** @throws {Failure} unless it is absent, or a whole number from `min` on */
export function wholeIn(where: string, value: unknown, min: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
  throw misconfigured(`${where} must be a whole number, ${String(min)} or more`);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
