import { parseArguments, UsageError } from '@queuelock/harness/command-line';
import { MEDIA, SCENARIOS, STORES, type Extent, type Medium, type StoreName } from './cells.ts';
import type { Pace } from './client.ts';

/** Options of `pnpm bench`. */
export interface BenchOptions {
  readonly stores: readonly StoreName[];
  readonly media: readonly Medium[];
  readonly extent: Extent;
  readonly pace: Pace;
  readonly rounds: number;
  readonly warmUp: boolean;
  readonly json: string | undefined;
  readonly svg: string | undefined;
}

const MAX_ROUNDS = 100;
const MAX_WAITERS = 20_000;
const SHORT = { rounds: 1, n: [10, 100], pace: { ms: 500, warm: 20, rounds: 20 } };
const LONG = { rounds: 5, n: [10, 100, 1_000, 10_000], pace: { ms: 2_000, warm: 50, rounds: 100 } };

export const HELP = `Usage: pnpm bench [options]

queuelock and other locks side by side, above the floor of the store: the same server, in turns, a fresh one each round.
What is not installed is named. Only ratios within one run count.

  --short           one round of the smaller sizes, without a warm-up round: whether all works, not how fast
  --only S,…        ${STORES.join(', ')} (default: all)
  --scenario S,…    ${SCENARIOS.join(', ')} (default: all)
  --rounds R        of which medians are taken, after a warm-up round, 1 to ${MAX_ROUNDS} (default ${LONG.rounds})
  --n N,…           waiters of drain, 1 to ${MAX_WAITERS} (default ${LONG.n.join(',')})
  --disk, --tmpfs   where servers keep their data: in TMPDIR, in /dev/shm (default: both, short: tmpfs)
  --json FILE       every value of every round
  --svg FILE        the tables as bars
  --help

What is measured of ours is what is published; \`pnpm bench\` builds it first.`;

/** Parses the command line. Returns `undefined` if only help was requested. */
export function benchOptions(args: readonly string[]): BenchOptions | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  const short = values.short ?? false;
  const standard = short ? SHORT : LONG;
  const scenarios =
    values.scenario === undefined ? SCENARIOS : someOf('scenario', values.scenario, SCENARIOS);
  const n = values.n?.split(',').map((text) => whole('n', text, MAX_WAITERS)) ?? standard.n;
  return {
    stores: values.only === undefined ? STORES : someOf('only', values.only, STORES),
    media: mediaOf(values, short),
    extent: { scenarios, n, short },
    pace: standard.pace,
    rounds: values.rounds === undefined ? standard.rounds : whole('rounds', values.rounds, MAX_ROUNDS),
    warmUp: !short,
    json: values.json,
    svg: values.svg,
  };
}

function mediaOf({ disk, tmpfs }: { disk?: boolean; tmpfs?: boolean }, short: boolean): readonly Medium[] {
  if (disk === tmpfs) return short && !disk ? ['tmpfs'] : MEDIA;
  return disk ? ['disk'] : ['tmpfs'];
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    short: flag,
    only: text,
    scenario: text,
    rounds: text,
    n: text,
    disk: flag,
    tmpfs: flag,
    json: text,
    svg: text,
  } as const;
  return parseArguments(args, { options }).values;
}

function someOf<T extends string>(option: string, text: string, allowed: readonly T[]): readonly T[] {
  const requested = text.split(',');
  const wrong = requested.find((word) => !allowed.some((one) => one === word));
  if (wrong !== undefined) throw new UsageError(`--${option}: "${wrong}" is none of ${allowed.join(', ')}`);
  return allowed.filter((one) => requested.includes(one));
}

function whole(option: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new UsageError(`--${option}: "${text}" is no whole number from 1 to ${most}`);
}
