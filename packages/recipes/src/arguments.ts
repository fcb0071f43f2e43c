import { invalidArgument } from '@queuelock/core/backend';

/** The number, once it is sure to be a whole one in that range. */
export function wholeNumber(
  argument: string,
  value: number,
  { min, max = Number.MAX_SAFE_INTEGER }: { readonly min: number; readonly max?: number },
): number {
  if (Number.isSafeInteger(value) && value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min} up` : `from ${min} to ${max}`;
  throw invalidArgument(argument, value, `is a whole number ${range}`);
}
