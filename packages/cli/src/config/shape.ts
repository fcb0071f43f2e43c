import { EXIT } from '../exit-codes.ts';
import { Failure } from '../failure.ts';

export type Fields = Readonly<Record<string, unknown>>;

/**
 * Makes the error for invalid configuration. The message must not quote values of the file, because they may
 * be passwords.
 */
export function misconfigured(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage });
}

/**
 * Checks that a value of the configuration is an object with only the known fields.
 * @param where the file and the field, for the message
 * @throws {Failure} when the value is no object or has other fields
 */
export function fieldsOf(where: string, value: unknown, known?: readonly string[]): Fields {
  if (!isObject(value)) throw misconfigured(`${where} must be an object`);
  const stranger = known && Object.keys(value).find((key) => !known.includes(key));
  if (known && stranger !== undefined)
    throw misconfigured(`${where} has an unknown field ${stranger}; known fields are ${known.join(', ')}`);
  return value;
}

/**
 * Reads an optional text of the configuration.
 * @throws {Failure} when the value is empty or not a string
 */
export function textIn(where: string, value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && value !== '')) return value;
  throw misconfigured(`${where} must be a string that is not empty`);
}

/**
 * Reads an optional whole number of the configuration.
 * @throws {Failure} when the value is less than `min` or not a whole number
 */
export function wholeIn(where: string, value: unknown, min: number): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
  throw misconfigured(`${where} must be a whole number, ${String(min)} or more`);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
