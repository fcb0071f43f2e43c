import type { Verdict } from '@queuelock/harness/check';
import type { Run } from '@queuelock/harness/check/run';
import { etcdTransportName } from '@queuelock/harness/services/etcd-transport';
import { LONGEST_HOLD_MS, OPERATED_QUEUES, WORKERS, chaosLoad } from './chaos-load.ts';
import { Crew } from './crew.ts';
import { drain } from './drain.ts';
import { startExperiment, type Experiment } from './experiment.ts';
import type { Capabilities } from './faults-menu.ts';
import { readRun } from '@queuelock/harness/check/history';
import { judge } from './judge.ts';
import { LiveFacts } from './live.ts';
import { perform, type Performed } from './perform.ts';
import { timingOf, type StoreName } from './profiles.ts';
import { Progress } from './progress.ts';
import { scheduleOf, type Schedule } from './schedule.ts';
import { REJOINS_WITHIN_MS } from './stage.ts';
import type { Rule } from './worker-command.ts';

export interface ChaosPlan {
  readonly store: StoreName;
  readonly minutes: number;
  readonly seed: number;
  /** Factor of the times between faults of workers. */
  readonly spacing: number;
  readonly rule: Rule;
  readonly recipes: boolean;
  /** Signal whose abort ends the load early. */
  readonly signal: AbortSignal;
  readonly out: NodeJS.WriteStream;
}

/** The result of a run. The files with its histories have not been deleted yet. */
export interface ChaosOutcome {
  readonly schedule: Schedule;
  readonly performed: Performed;
  readonly run: Run;
  readonly verdict: Verdict;
  readonly directory: string;
  /** Description of the servers with their versions and, of etcd, of the clients' transport. */
  readonly description: string;
  /** Number of claims that ended in an error, by the code of the error. */
  readonly failures: ReadonlyMap<string, number>;
}

// Longest time in milliseconds that a worker's process may take to end. It is long, because all workers of
// the run end at the same time.
const EXIT_WITHIN_MS = 5_000;

/** Runs one store under load and faults, and checks the history. */
export async function runChaos(plan: ChaosPlan): Promise<ChaosOutcome> {
  const { store, rule, out } = plan;
  const { ttlMs } = timingOf(store, 'fast', false);
  // `evictionMs` is how long a holder may believe that it holds after an operator removed its entry. The
  // checker gets it before the run, because it also checks a run that ends early.
  const limits = { exitMs: EXIT_WITHIN_MS, evictionMs: ttlMs };
  const experiment = await startExperiment({ store, rule, holdMs: LONGEST_HOLD_MS, limits });
  const { loads, operated, shared } = chaosLoad(experiment, plan);
  const schedule = scheduleOf({ ...plan, capabilities: capabilitiesOf(experiment) });
  out.write(
    `${descriptionOf(experiment)}; seed ${plan.seed}, ${schedule.faults.length} faults planned; histories: ${experiment.directory}\n`,
  );
  const crew = new Crew(experiment, { ...plan, workers: WORKERS, loads });
  await crew.start();
  const live = new LiveFacts(experiment.directory, [...operated, ...shared]);
  const performed = await underFaults({ experiment, crew, live, operated }, { ...plan, schedule });
  if (performed.failure) {
    out.write(`it ends early: ${performed.failure.message}\n`);
    await experiment.cluster.recover(REJOINS_WITHIN_MS);
  }
  out.write('calm; everybody comes to an end\n');
  await drain(experiment, live);
  live.close();
  await experiment.finish();
  const { run } = await readRun(experiment.directory);
  return {
    schedule,
    performed,
    run,
    verdict: judge(run, {
      limits: experiment.limits,
      operated: new Set(operated),
      ttlMs,
    }),
    directory: experiment.directory,
    description: descriptionOf(experiment),
    failures: live.failures,
  };
}

function descriptionOf({ store, cluster }: Experiment): string {
  return store === 'etcd' ? `${cluster.description}, transport ${etcdTransportName()}` : cluster.description;
}

interface Scene {
  readonly experiment: Experiment;
  readonly crew: Crew;
  readonly live: LiveFacts;
  readonly operated: readonly string[];
}

async function underFaults(
  { experiment, crew, live, operated }: Scene,
  { schedule, signal, store, out }: ChaosPlan & { readonly schedule: Schedule },
): Promise<Performed> {
  const stage = {
    experiment,
    cluster: experiment.cluster,
    operated,
    worker: (place: number) => crew.worker(place),
    replace: (place: number) => crew.replace(place),
  };
  const progress = new Progress(store, live, out);
  const { faults, minutes } = schedule;
  try {
    return await perform({ stage, faults, audience: progress, untilMs: minutes * 60_000, signal });
  } finally {
    crew.stop();
    progress.stop();
  }
}

function capabilitiesOf({ store, cluster, timing }: Experiment): Capabilities {
  return {
    store,
    workers: WORKERS,
    members: cluster.members.length,
    operatedQueues: OPERATED_QUEUES,
    ttlMs: timing.ttlMs,
    loss: !cluster.absent.has('loss'),
  };
}
