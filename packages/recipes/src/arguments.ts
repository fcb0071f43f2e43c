import { invalidArgument } from '@queuelock/core/backend';

/**
 * Returns `value` if it is a whole number in the given range.
 * @throws {QueueLockError} `INVALID_ARGUMENT` otherwise
 */
export function wholeNumber(
  argument: string,
  value: number,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
  throw invalidArgument(argument, value, `is a whole number ${range}`);
}
