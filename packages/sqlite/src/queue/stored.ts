import { UnsoundFile } from '../driver/errors.ts';

/**
 * Reads a whole number of a row. Other programs can write to the file: a number that no process of this library stores is never computed
 * with.
 * @throws {UnsoundFile}
 */
export function storedWhole(value: unknown, column: string, min: number): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= min) return value;
  throw new UnsoundFile(`${column} is no whole number from ${min} on`);
}

/**
 * Reads the bytes of a row.
 * @throws {UnsoundFile}
 */
export function storedBytes(value: unknown, column: string): Uint8Array {
  if (value instanceof Uint8Array) return value;
  throw new UnsoundFile(`${column} holds no bytes`);
}
