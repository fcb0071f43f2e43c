import { NotHere } from '@queuelock/harness/services/service';
import { cellsOf, sizeText, type Cell, type Extent, type Medium, type StoreName } from './cells.ts';
import type { Client, Pace } from './client.ts';
import { measure } from './measure.ts';
import { Results } from './results.ts';
import { startServer, type BenchServer } from './server.ts';

export interface Plan {
  readonly stores: readonly StoreName[];
  readonly media: readonly Medium[];
  readonly extent: Extent;
  readonly pace: Pace;
  /** Number of rounds whose results count. A warm-up round comes before them unless `warmUp` is false. */
  readonly rounds: number;
  readonly warmUp: boolean;
  readonly clients: readonly Client[];
  /** Called with each line about the progress of the benchmark. */
  readonly tell: (line: string) => void;
}

/** The results of a benchmark, with a line for each cell that was left out and why. */
export interface Outcome {
  readonly results: Results;
  readonly versions: Readonly<Record<string, string>>;
  readonly missing: readonly string[];
}

/**
 * Runs all rounds, each on a new server. A cell is one scenario at one size. In each round every client runs
 * every cell.
 */
export async function runRounds(plan: Plan): Promise<Outcome> {
  const results = new Results();
  const versions: Record<string, string> = {};
  const missing = new Set<string>();
  const at = { results, missing, here: await whoIsHere(plan, missing) };
  for (const store of plan.stores) {
    for (const medium of store === 'redis' ? plan.media.slice(0, 1) : plan.media) {
      for (let round = plan.warmUp ? 0 : 1; round <= plan.rounds; round += 1) {
        plan.tell(`${store} on ${medium}, ${round === 0 ? 'warm-up' : `round ${round} of ${plan.rounds}`}`);
        const server = await startServer(store, medium).catch(noServer(store, missing));
        if (server === undefined) break;
        versions[store] = server.version;
        try {
          await runRound(plan, { ...at, server, medium, round });
        } finally {
          await server.stop();
        }
      }
    }
  }
  return { results, versions, missing: [...missing] };
}

interface Here {
  readonly client: Client;
  readonly command: Awaited<ReturnType<Client['command']>>;
}

async function whoIsHere({ clients, stores, tell: report }: Plan, missing: Set<string>): Promise<Here[]> {
  const here: Here[] = [];
  for (const client of clients.filter(({ store }) => stores.includes(store))) {
    try {
      here.push({ client, command: await client.command() });
    } catch (error) {
      if (!(error instanceof NotHere)) throw error;
      missing.add(`${client.name}: ${error.message}`);
      report(`without ${client.name}: ${error.message}`);
    }
  }
  return here;
}

function noServer(store: StoreName, missing: Set<string>): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof NotHere)) throw error;
    missing.add(`${store}: ${error.message}`);
  };
}

interface Round {
  readonly results: Results;
  readonly missing: Set<string>;
  readonly here: readonly Here[];
  readonly server: BenchServer;
  readonly medium: Medium;
  readonly round: number;
}

async function runRound(plan: Plan, round: Round): Promise<void> {
  const { server, medium } = round;
  for (const cell of cellsOf(server.store, medium, plan.extent)) {
    const able = round.here.filter(
      ({ client }) => client.store === server.store && client.words(cell, plan.pace) !== undefined,
    );
    // Starts each round with another client, so that no client always runs first or last.
    const first = able.length === 0 ? 0 : round.round % able.length;
    for (const one of [...able.slice(first), ...able.slice(0, first)])
      await takeTurn(plan, { ...round, cell }, one);
  }
}

async function takeTurn(
  { pace, tell }: Plan,
  { server, cell, round, results, missing }: Round & { readonly cell: Cell },
  { client, command }: Here,
): Promise<void> {
  const words = client.words(cell, pace);
  if (words === undefined) return;
  const what = `${cell.scenario}, ${sizeText(cell)}: ${client.name}`;
  const name = `r${round}/${cell.scenario}-${cell.size}${cell.noise ? '-noise' : ''}/${client.name.replace(/\W+/g, '-')}`;
  // Replaces slashes in the name of the queue, since ZooKeeper's raw calls and kazoo do not create parent
  // nodes.
  const flat = name.replaceAll('/', '-');
  try {
    const values = await measure(server, { client, command, words, cell, pace, name: flat });
    if (round > 0) results.add(cell, client, values);
    tell(
      `  ${what}: ${Object.entries(values)
        .slice(0, 4)
        .map(([key, value]) => `${key} ${value.toFixed(1)}`)
        .join(', ')}`,
    );
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    missing.add(`${what}: failed: ${reason}`);
    tell(`  ${what}: failed: ${reason}`);
  }
}
