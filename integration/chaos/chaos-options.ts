import { parseArguments, UsageError } from '@queuelock/harness/command-line';
import { ETCD_TRANSPORTS, type EtcdTransport } from '@queuelock/harness/services/etcd-transport';
import { CHAOS_STORES, hasSchedule, rulesOf, type ChaosStore } from './chaos-stores.ts';
import { STORES } from './profiles.ts';
import type { Rule } from './worker-command.ts';

/** Options of `pnpm chaos`. */
export interface ChaosOptions {
  readonly minutes: number;
  readonly seed: number;
  /** Factor of the times between faults: the longer they are, the more holds a run has. See `HELP`. */
  readonly spacing: number;
  /** Stores on which the workers run, one after another. */
  readonly stores: readonly ChaosStore[];
  /** Returns the directory for the report of a store. */
  readonly out: (store: ChaosStore) => string;
  readonly rule: Rule;
  /** Transport of the etcd clients. Default: that of the package, or the one that QUEUELOCK_ETCD_TRANSPORT names. */
  readonly transport: EtcdTransport | undefined;
  /**
   * Whether workers also use read and write locks, semaphores, elections, and claims of several names.
   * Otherwise they use only plain locks.
   */
  readonly recipes: boolean;
  /** Whether to keep the histories of a run without violations. Histories with violations are always kept. */
  readonly keep: boolean;
  /** File to which the numbers of this run are added, such as holds, faults and violations. */
  readonly sums: string | undefined;
}

/** Range of a number, both ends included. */
interface Range {
  readonly least: number;
  readonly most: number;
}

const MINUTES: Range = { least: 0.25, most: 24 * 60 };
const SPACING: Range = { least: 0.1, most: 100 };
const MAX_SEED = 2 ** 32 - 1;

export const HELP = `Usage: pnpm chaos [options]

Locks under load, with faults at random; then a checker reads what everybody wrote down. etcd, zookeeper and
consul-cluster have three servers, sqlite has a file, and the others have one server.

  --minutes M     how long each store is under load, from ${textOf(MINUTES)} (default 5)
  --seed S        of the schedule, from 0 to ${MAX_SEED}: the same seed, the same faults (default: by chance, printed)
  --spacing F     multiplies the times between faults of workers, from ${textOf(SPACING)} (default 1), and above 1, where
                  there is no schedule, those between faults of the server: the longer they are, the fewer faults
                  and the more holds a minute has
  --backend B     ${CHAOS_STORES.join(', ')}; both for etcd and zookeeper, all for all of them
                  one after another (default both)
  --out DIR       where the report goes (default chaos-report/<backend>-<seed>); with both, DIR/<backend>
  --recipes       not only plain locks: also read and write locks, semaphores, locks of several names, leaders
                  (etcd, zookeeper)
  --keep          keeps the histories also when nothing was wrong (etcd, zookeeper)
  --sums FILE     adds the run to the runs in FILE, and prints the sums of all of them
  --transport T   of the clients of etcd: ${ETCD_TRANSPORTS.join(', ')} (default ${ETCD_TRANSPORTS[0]})
  --rule R        by which rule workers believe in their locks (default product). The others show that the checker
                  sees what is wrong: etcd: plain, overlong; zookeeper: connected, newest, overlong; others: overlong
  --help

Ctrl-C ends the load early: faults are healed, and what there is is checked and reported.
Exit code: 0 nothing wrong, 1 violations (or the run itself failed), 2 wrong arguments.`;

/** Parses the command line. Returns `undefined` if only help was requested. */
export function chaosOptions(args: readonly string[]): ChaosOptions | undefined {
  const values = parse(args);
  if (values.help) return undefined;
  const minutes = numberIn(MINUTES, 'minutes', values.minutes ?? '5');
  const seed = values.seed === undefined ? Math.floor(Math.random() * MAX_SEED) : seedOf(values.seed);
  const spacing = numberIn(SPACING, 'spacing', values.spacing ?? '1');
  const stores = storesOf(values.backend ?? 'both');
  const out = (store: ChaosStore): string => {
    if (values.out === undefined) return `chaos-report/${store}-${seed}`;
    return stores.length > 1 ? `${values.out}/${store}` : values.out;
  };
  if (values.out === '') throw new UsageError('--out: "" is not the name of a directory');
  const rule = ruleOf(values.rule ?? 'product', stores);
  const transport = transportOf(values.transport, stores);
  if (values.sums === '') throw new UsageError('--sums: "" is not the name of a file');
  const { recipes = false, keep = false, sums } = values;
  for (const [name, isSet] of Object.entries({ recipes, keep }))
    if (isSet && !stores.every(hasSchedule))
      throw new UsageError(`--${name} is only for ${STORES.join(' and ')}`);
  return { minutes, seed, spacing, stores, out, rule, transport, recipes, keep, sums };
}

/** Returns the command line that repeats the run on one store, with the same seed and options. */
export function commandOf(
  {
    minutes,
    seed,
    spacing,
    rule,
    transport,
    recipes,
  }: Pick<ChaosOptions, 'minutes' | 'seed' | 'spacing' | 'rule' | 'transport' | 'recipes'>,
  store: ChaosStore,
): string {
  const more = [
    ...(spacing === 1 ? [] : [`--spacing ${spacing}`]),
    ...(rule === 'product' ? [] : [`--rule ${rule}`]),
    ...(transport === undefined ? [] : [`--transport ${transport}`]),
    ...(recipes ? ['--recipes'] : []),
  ];
  return [`pnpm chaos --minutes ${minutes} --seed ${seed} --backend ${store}`, ...more].join(' ');
}

function parse(args: readonly string[]) {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean' } as const;
  const options = {
    minutes: text,
    seed: text,
    spacing: text,
    backend: text,
    out: text,
    rule: text,
    transport: text,
    recipes: flag,
    keep: flag,
    sums: text,
  } as const;
  return parseArguments(args, { options }).values;
}

function storesOf(backend: string): readonly ChaosStore[] {
  if (backend === 'both') return STORES;
  if (backend === 'all') return CHAOS_STORES;
  const store = CHAOS_STORES.find((name) => name === backend);
  if (!store)
    throw new UsageError(`--backend: "${backend}" is none of ${CHAOS_STORES.join(', ')}, both, all`);
  return [store];
}

function ruleOf(text: string, stores: readonly ChaosStore[]): Rule {
  for (const store of stores) {
    const rules = rulesOf(store);
    if (!rules.some((name) => name === text))
      throw new UsageError(`--rule: "${text}" is none of those for ${store}: ${rules.join(', ')}`);
  }
  return text as Rule;
}

function transportOf(text: string | undefined, stores: readonly ChaosStore[]): EtcdTransport | undefined {
  if (text === undefined) return undefined;
  const other = stores.find((store) => store !== 'etcd');
  if (other) throw new UsageError(`--transport is only for etcd, not for ${other}`);
  const transport = ETCD_TRANSPORTS.find((name) => name === text);
  if (!transport) throw new UsageError(`--transport: "${text}" is none of ${ETCD_TRANSPORTS.join(', ')}`);
  return transport;
}

function seedOf(text: string): number {
  const seed = numberOf('seed', text);
  if (!(Number.isInteger(seed) && seed >= 0 && seed <= MAX_SEED))
    throw new UsageError(`--seed: "${text}" is not a whole number from 0 to ${MAX_SEED}`);
  return seed;
}

function numberIn(range: Range, name: string, text: string): number {
  const value = numberOf(name, text);
  if (!(value >= range.least && value <= range.most))
    throw new UsageError(`--${name}: "${text}" is not from ${textOf(range)}`);
  return value;
}

function textOf({ least, most }: Range): string {
  return `${least} to ${most}`;
}

function numberOf(name: string, text: string): number {
  const value = text.trim() === '' ? NaN : Number(text);
  if (Number.isNaN(value)) throw new UsageError(`--${name}: "${text}" is not a number`);
  return value;
}
