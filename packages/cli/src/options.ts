import { hostname } from 'node:os';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** Largest time that an option accepts, in milliseconds: one day. Longer values are usually typing errors. */
export const MAX_MS = 86_400_000;

/** Returns a parser for whole numbers from `min` to `max`. Its error message states these limits. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${String(min)} to ${String(max)}.`);
  };
}

/** Parses a label that users see in a queue: not empty, one line, at most 200 characters. */
export function label(text: string): string {
  if (text !== '' && text.length <= 200 && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidArgumentError('It must have 1 to 200 characters and no control characters.');
}

/** Returns the option that selects the store. `config/store-selection.ts` has the other ways to select it. */
export function backendOption(): Option<'--backend <url>'> {
  return new Option(
    '--backend <url>',
    'URL of the store: memory:, sqlite:…, etcd://…, etcds://…, zk://…, zks://…, redis://…, rediss://…, postgres://…, mysql://…, consul://…, consuls://… (or QUEUELOCK_URL)',
  );
}

export function profileOption(): Option<'--profile <name>'> {
  return new Option(
    '--profile <name>',
    'profile of the configuration that names the store (or QUEUELOCK_PROFILE)',
  );
}

/** Returns the option `--json` for commands that print results. */
export function jsonOption(what = 'print one JSON object a line'): Option<'--json'> {
  return new Option('--json', what);
}

/** Returns the option for the owner label in the queue. */
export function idOption(): Option<'--id <label>', undefined, string, string> {
  return new Option('--id <label>', 'owner label in the queue')
    .argParser(label)
    .default(`${hostname()}:${String(process.pid)}`, 'host:pid');
}

/** Makes the option for the number of holds to record. */
export function recordOption(): Option<'--record <n>', undefined, undefined, number> {
  return new Option(
    '--record <n>',
    'record the last n holds of the name beside its queue, for `history`; 0 to 100 (default: 0)',
  ).argParser(wholeNumber(0, 100));
}

export function verboseOption(): Option<'--verbose'> {
  return new Option('--verbose', 'print the causes of an error');
}

/** Describes the default of `--ttl` for the help. The numbers equal `defaultTtlMs` of the backends. */
export const TTL_DEFAULT = '(default: 10, on ZooKeeper 15 or the least that it allows)';

export const TTL_SECONDS: (text: string) => number = wholeNumber(1, 86_400);
