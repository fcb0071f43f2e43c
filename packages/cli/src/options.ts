import { hostname } from 'node:os';
import { InvalidArgumentError, Option } from '@commander-js/extra-typings';

/** Longest time that an option takes, in milliseconds: a day. Timers hold 24 days, mistakes are longer. */
export const MAX_MS = 86_400_000;

/** Parses a whole number; anything else is refused with the rule. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^[+-]?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    if (value >= min && value <= max) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${String(min)} to ${String(max)}.`);
  };
}

/** Parses a text that people read in a queue: not empty, one line, at most 200 characters. */
export function label(text: string): string {
  if (text !== '' && text.length <= 200 && !/\p{Cc}/u.test(text)) return text;
  throw new InvalidArgumentError('It must have 1 to 200 characters and no control characters.');
}

/** Where the queues are; see `config/place.ts` for what else says it. */
export function backendOption(): Option<'--backend <url>'> {
  return new Option(
    '--backend <url>',
    'where the queues are: memory:, sqlite:…, etcd://…, etcds://…, zk://…, zks://…, redis://…, rediss://…, postgres://…, mysql://…, consul://…, consuls://… (or QUEUELOCK_URL)',
  );
}

export function profileOption(): Option<'--profile <name>'> {
  return new Option('--profile <name>', 'a place that the configuration names (or QUEUELOCK_PROFILE)');
}

/** For commands that show something. */
export function jsonOption(what = 'one JSON object a line'): Option<'--json'> {
  return new Option('--json', what);
}

/** Who this is in the queue. */
export function idOption(): Option<'--id <label>', undefined, string, string> {
  return new Option('--id <label>', 'label in the queue')
    .argParser(label)
    .default(`${hostname()}:${String(process.pid)}`, 'host:pid');
}

export function verboseOption(): Option<'--verbose'> {
  return new Option('--verbose', 'with an error, print what caused it');
}

/** What the backends have in their `defaultTtlMs`, for the help. */
export const TTL_DEFAULT = '(default: 10, on ZooKeeper 15 or what it needs at least)';

export const TTL_SECONDS: (text: string) => number = wholeNumber(1, 86_400);
