import { UnsoundFile } from '../driver/errors.ts';

/**
 * Reads a whole number from a row of the file. Other programs can write to the file, so a number that no
 * process of this library stores is refused.
 * @throws {UnsoundFile} when the value is invalid
 */
export function storedWhole(value: unknown, column: string, min: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
  throw new UnsoundFile(`${column} is not a whole number from ${min}`);
}

/**
 * Reads bytes from a row of the file.
 * @throws {UnsoundFile} when the value is invalid
 */
export function storedBytes(value: unknown, column: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new UnsoundFile(`${column} does not contain bytes`);
}
