import { QueueLockError } from '@queuelock/core';

/** An `INVALID_ARGUMENT` that names the argument, the value and the rule. */
export function invalidArgument(argument: string, value: unknown, rule: string): QueueLockError {
  return new QueueLockError('INVALID_ARGUMENT', `${argument} ${rule}; got ${show(value)}`);
}

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

function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > 80 ? `${value.slice(0, 77)}...` : value);
  }
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object';
  return String(value);
}
