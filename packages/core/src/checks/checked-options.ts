import { QueueLockError, invalidArgument } from '../api/errors.ts';
import { nearestName } from '../base/nearest-name.ts';

/** Type that an option must have, as `typeof` returns it. `any` for options whose value is checked elsewhere. */
export type OptionType = 'string' | 'number' | 'boolean' | 'function' | 'object' | 'any';

/** The names and types of all options of an interface. The compiler rejects a list that lacks an option or has an unknown one. */
export type KnownOptions<Options> = { readonly [Name in keyof Options]-?: OptionType };

/** Returns the list of options without the named ones. */
export function knownWithout<Options, Name extends keyof Options>(
  known: KnownOptions<Options>,
  ...names: readonly Name[]
): KnownOptions<Omit<Options, Name>> {
  const left = Object.entries(known).filter(([name]) => !names.includes(name as Name));
  return Object.fromEntries(left) as KnownOptions<Omit<Options, Name>>;
}

/**
 * Checks that the given options are an object whose members are known options of the right types, and returns it. Returns an empty object for
 * `undefined`. An option that is `undefined` counts as absent. The message does not repeat a text that was passed in place of an object, because it
 * may be a secret.
 * @param argument name of the options in messages, such as `options of acquire`
 * @throws {QueueLockError} `INVALID_ARGUMENT`, which names the unknown option and the most similar known one
 */
export function checkedOptions<Options extends object>(
  argument: string,
  given: Options,
  known: KnownOptions<Options>,
): Options;
export function checkedOptions<Options extends object>(
  argument: string,
  given: Options | undefined,
  known: KnownOptions<Options>,
): Partial<Options>;
export function checkedOptions<Options extends object>(
  argument: string,
  given: unknown,
  known: KnownOptions<Options>,
): Partial<Options> {
  const options = given === undefined ? {} : checkedObject(argument, given);
  const types: Readonly<Record<string, OptionType>> = known;
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue;
    if (!Object.hasOwn(types, name)) throw unknownOption(argument, name, Object.keys(types));
    const type = types[name];
    if (type === 'object') checkedObject(name, value);
    else if (type !== 'any' && typeof value !== type) throw invalidArgument(name, value, `is a ${type}`);
  }
  return options;
}

/** Returns the value if it is an object and not an array. The error message does not repeat a text, which may be a secret. */
export function checkedObject<T>(argument: string, value: T): T & object {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  const rule = 'must be an object';
  if (typeof value !== 'string') throw invalidArgument(argument, value, rule);
  throw new QueueLockError('INVALID_ARGUMENT', `${argument} ${rule}; got a string`);
}

function unknownOption(argument: string, name: string, known: readonly string[]): QueueLockError {
  const meant = nearestName(name, known);
  const hint = meant === undefined ? `known options are ${known.join(', ')}` : `did you mean ${meant}?`;
  return new QueueLockError('INVALID_ARGUMENT', `${argument}: ${name.slice(0, 80)} is unknown, ${hint}`);
}
