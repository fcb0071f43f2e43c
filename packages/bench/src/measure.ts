import { setTimeout as pause } from 'node:timers/promises';
import type { CommandLine } from '../../../integration/interop/programs.ts';
import type { Cell, Scenario } from './cells.ts';
import type { Client, Pace } from './client.ts';
import { runProgram } from './run-program.ts';
import type { BenchServer, Counters } from './server.ts';

/** Values of one run of a client: its own results, and the counters of the server. */
export type Values = Readonly<Record<string, number>>;

export interface Run {
  readonly client: Client;
  readonly command: CommandLine;
  readonly words: readonly string[];
  readonly cell: Cell;
  readonly pace: Pace;
  /** Part of the names of locks in this run of a client. It differs for each run in the round. */
  readonly name: string;
}

const WITHIN_MS = 240_000;
/**
 * Time in milliseconds in which the requests of an idle client are counted. It is twice the TTL of the
 * sessions in the scenario `idle`.
 */
const IDLE_MS = 20_000;

/**
 * Scenarios that measure hand-offs. Their programs wait for the harness when they are connected, and again
 * when all entries are enqueued. So the server's counters separate enqueues from hand-offs.
 */
const HAND_OFFS: readonly Scenario[] = ['drain', 'spread', 'sessions', 'sessions-cold'];

/** Runs one client once, and returns the measured values. */
export async function measure(server: BenchServer, run: Run): Promise<Values> {
  const stops: Counters[] = [];
  const before = await server.counters();
  const output = await runProgram({
    command: run.command,
    words: [...run.words, `name=${run.name}`],
    env: server.env,
    withinMs: WITHIN_MS,
    async atStop() {
      stops.push(await server.counters());
      if (run.cell.scenario !== 'idle') return;
      await pause(IDLE_MS);
      stops.push(await server.counters());
    },
  });
  const after = await server.counters();
  const numbers = Object.entries(output).filter(
    (entry): entry is [string, number] => typeof entry[1] === 'number',
  );
  return {
    ...Object.fromEntries(numbers),
    ...costs(run, [before, ...stops, after], Object.fromEntries(numbers)),
  };
}

/**
 * Returns the server's requests and processor time per cycle, enqueue or hand-off. In the scenario `idle` it
 * returns the number of requests. `marks` are the values of the server's counters at several moments of the
 * run.
 */
function costs({ cell, pace }: Run, marks: readonly Counters[], output: Values): Values {
  const { scenario, size } = cell;
  const [first, second, third, fourth] = marks;
  if (!first || !second) return {};
  if (HAND_OFFS.includes(scenario) && third && fourth) {
    return {
      ...perUnit('enqueue', [second, third], size),
      // Among `size` waiters there is one hand-off more than there are waiters, because the first holder
      // releases too.
      ...perUnit('handOff', [third, fourth], size + 1),
    };
  }
  if (scenario === 'idle' && third) return { requests: messages(difference([second, third])) };
  const cycles = (output['cycles'] ?? NaN) + (output['warmed'] ?? pace.warm * size);
  return { serverCpu: (difference([first, second])['cpuUs'] ?? NaN) / cycles };
}

/**
 * Divides the difference of two counter readings by `units`. The key of a result consists of `what` and the
 * name of the counter, for instance `enqueueRange` and `handOffCpuUs`.
 */
function perUnit(what: string, pair: readonly [Counters, Counters], units: number): Values {
  return Object.fromEntries(
    // Leaves out a negative difference, which means that a connection was closed in between, and its requests
    // are not counted any more.
    Object.entries(difference(pair)).flatMap(([counter, count]) =>
      count < 0 ? [] : [[`${what}${capital(counter)}`, count / units] as const],
    ),
  );
}

function difference([before, after]: readonly [Counters, Counters]): Counters {
  const changes = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)] as const);
  return Object.fromEntries(changes.filter(([, count]) => count !== 0));
}

/** Returns how many requests the clients sent. etcd counts requests by method, ZooKeeper only in total. */
function messages(changes: Counters): number {
  const { requests = 0, LeaseKeepAlive = 0, Watch = 0, Status = 0 } = changes;
  return requests + LeaseKeepAlive + Watch + Status;
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
