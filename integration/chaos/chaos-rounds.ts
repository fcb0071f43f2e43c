import type { Verdict } from '@queuelock/harness/check';
import { startConsulClusterTrial } from './consul-cluster-trial.ts';
import type { RoundsStore } from './chaos-stores.ts';
import { stopDetoursAfter } from './detour.ts';
import type { DetourSettings, DetourTrial } from './detour-trial.ts';
import { strikeAllAtLoneServer } from './lone-faults.ts';
import { startLoneTrial } from './lone-trial.ts';
import { sqliteVersion, startSqliteTrial } from './sqlite-trial.ts';
import type { StrikeOptions } from './traveller-faults.ts';
import type { Rule } from './worker-command.ts';

/**
 * The result of a run on one store. The run consists of rounds, each of which makes every fault of the store
 * once.
 */
export interface RoundsOutcome {
  readonly verdicts: readonly Verdict[];
  /** The store with its version, for instance `redis 7.0.15`. */
  readonly servers: string;
}

export interface RoundsPlan {
  readonly store: RoundsStore;
  readonly minutes: number;
  readonly seed: number;
  /** Factor of the times between faults of workers. */
  readonly spacing: number;
  readonly rule: Rule;
  /** Signal whose abort ends the run after the present round of faults. */
  readonly signal: AbortSignal;
  readonly out: NodeJS.WriteStream;
}

/** A trial of a store, and a function that makes the faults of the store. */
interface Bout {
  readonly trial: DetourTrial;
  readonly strike: (options: StrikeOptions) => Promise<void>;
  readonly servers: string;
}

// Longest time in milliseconds that one trial records in one history, which the checker reads into memory.
// Each trial starts new workers, which takes some seconds.
const TRIAL_MS = 5 * 60_000;

/**
 * Runs one store until the time is over, while workers load the store. The faults of the servers come in
 * rounds, each of which makes every fault once, in random order; beside them the faults of the workers do.
 * Histories are checked every five minutes, and are kept if the checker finds a violation.
 */
export async function runRounds({
  store,
  minutes,
  seed,
  spacing,
  rule,
  signal,
  out,
}: RoundsPlan): Promise<RoundsOutcome> {
  const endsAt = performance.now() + minutes * 60_000;
  const isOver = (): boolean => signal.aborted || performance.now() >= endsAt;
  const verdicts: Verdict[] = [];
  let servers: string = store;
  while (verdicts.length === 0 || !isOver()) {
    const bout = await boutOf(store, { rule, seed: seed + verdicts.length, quiet: true });
    servers = bout.servers;
    const trialEndsAt = performance.now() + TRIAL_MS;
    await bout.strike({ isOver: () => isOver() || performance.now() >= trialEndsAt, spacing });
    const { directory } = bout.trial;
    await stopDetoursAfter(async () => void verdicts.push(await bout.trial.end()));
    const verdict = verdicts.at(-1)!;
    out.write(`${servers}: ${verdict.numbers.holds} holds, ${verdict.findings.length} violations\n`);
    if (verdict.findings.length > 0) out.write(`histories: ${directory}\n`);
  }
  return { verdicts, servers };
}

async function boutOf(store: RoundsStore, settings: DetourSettings): Promise<Bout> {
  if (store === 'consul-cluster') {
    const trial = await startConsulClusterTrial(settings);
    const { version } = trial.cluster.servers[0]!;
    return {
      trial,
      strike: (options) => trial.strikeAll(options),
      servers: `consul ${version}, three servers`,
    };
  }
  if (store === 'sqlite') {
    const trial = await startSqliteTrial(settings);
    return { trial, strike: (options) => trial.strikeAll(options), servers: `sqlite ${sqliteVersion()}` };
  }
  const trial = await startLoneTrial(store, settings);
  return {
    trial,
    strike: (options) => strikeAllAtLoneServer(trial, options),
    servers: `${store} ${trial.server.version}`,
  };
}
