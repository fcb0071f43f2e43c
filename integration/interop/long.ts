// Runs the command `pnpm interop`. The constant `HELP` describes its options.
import { readArguments, refuseArguments } from '@queuelock/harness/command-line';
import { stores } from '../scenarios/stores.ts';
import type { Site, Store } from '../scenarios/store.ts';
import { stopShared } from '@queuelock/harness/services';
import { runLapses } from './lapse.ts';
import { medianHandOverMs, runMix } from './mix.ts';
import { runElection } from './reign.ts';
import { rows } from './rows.ts';
import { rowsOf } from './own-client.ts';
import type { Election, Line, Mix, Rows } from './row.ts';
import { abandonTrials } from './trial.ts';

const HELP = `pnpm interop [--store etcd|ZooKeeper] [--only TEXT] [--grants 2000] [--hold-ms 2]
pnpm interop --store etcd|ZooKeeper --client COMMAND [--recipe TEXT] [--deaf]

Programs in Node (ours), Go, Java and Python contend for one name on a real server: all mixtures, so many grants each; participants
of every kind that are killed or frozen while they hold and while they wait; elections with observers of all sides. What everybody saw is
checked: one holder at a time, grants in the server's order, nobody left behind. Exit code 1 if anything was wrong.

With --client, only that client contends with itself and with ours. COMMAND is a program and its first arguments, split at blanks; it follows
packages/FORMATS.md. --recipe is passed to it. --deaf: it does not notice that it lost its entry, so it may continue.`;

const { values } = readArguments(
  {
    store: { type: 'string' },
    only: { type: 'string', default: '' },
    grants: { type: 'string', default: '2000' },
    'hold-ms': { type: 'string', default: '2' },
    client: { type: 'string' },
    recipe: { type: 'string', default: 'lock' },
    deaf: { type: 'boolean', default: false },
  },
  HELP,
);
let wrong = 0;

function numberOf(name: 'grants' | 'hold-ms', least: number): number {
  const number = Number(values[name]);
  if (!Number.isInteger(number) || number < least)
    refuseArguments(`--${name}: "${values[name]}" is not a whole number from ${least}.`, HELP);
  return number;
}

function chosenStores(): Store[] {
  const chosen = stores.filter(({ name }) => (values.store ?? name) === name);
  if (chosen.length === 0)
    refuseArguments(
      `--store: "${values.store ?? ''}" is none of ${stores.map(({ name }) => name).join(', ')}.`,
      HELP,
    );
  return chosen;
}

/**
 * Returns the combinations of participants to run on the store. With the option `--client`, these are
 * combinations with the client that it names. Otherwise they are all combinations that this repository
 * defines for the store.
 */
function chosenRows({ name }: Store): Rows {
  if (values.client === undefined) return rows[name]!;
  if (values.store === undefined) refuseArguments('--client needs --store, whose format it writes.', HELP);
  const [program, ...args] = values.client.split(' ').filter((part) => part !== '');
  if (program === undefined) refuseArguments('--client: the command is empty.', HELP);
  return rowsOf({ command: [program, ...args], recipe: values.recipe, isDeaf: values.deaf });
}

/** Prints a row with the result of a run, and its findings below. A run that failed is a finding too. */
async function row(
  title: string,
  run: () => Promise<{ cells: string; findings: readonly string[] }>,
): Promise<void> {
  const ran = await run().catch((error: unknown) => ({ cells: '', findings: [String(error)] }));
  const left = await abandonTrials().then(
    () => [],
    (error: unknown) => [String(error)],
  );
  const { cells } = ran;
  const findings = [...ran.findings, ...left];
  wrong += findings.length;
  console.log(`| ${title.padEnd(52)} | ${cells} | ${findings.length} wrong |`);
  for (const finding of findings.slice(0, 10)) console.log(`    ${finding}`);
}

const size = { grants: numberOf('grants', 1), holdMs: numberOf('hold-ms', 0) };

async function mixRow(site: Site, mix: Mix): Promise<void> {
  await row(mix.title, async () => {
    const ran = await runMix(site, mix, size);
    const each = (ran.tookMs / ran.holds.length).toFixed(1);
    const handOver = medianHandOverMs(ran.holds).toFixed(2);
    return {
      cells: `${ran.holds.length} grants, ${each} ms each, hand-over ${handOver} ms`,
      findings: ran.findings,
    };
  });
}

async function lineRows(site: Site, line: Line): Promise<void> {
  for (const lapse of ['crash', 'freeze'] as const) {
    await row(`${line.title}: ${lapse}`, async () => {
      const { findings, gapsMs, wakesMs } = await runLapses(site, line, lapse);
      const reports = [...gapsMs].map(([title, gapMs]) => {
        const wakeMs = wakesMs.get(title);
        return `${title} ${gapMs.toFixed()}${wakeMs === undefined ? '' : ` (${wakeMs.toFixed(1)})`}`;
      });
      return { cells: reports.join(', '), findings };
    });
  }
}

async function electionRow(site: Site, election: Election): Promise<void> {
  await row(election.title, async () => {
    const { findings, holds, leaders, seen } = await runElection(site, election);
    const blind = [...seen].filter(([, named]) => named.join() !== leaders.join());
    return {
      cells: `${holds.length} terms, ${leaders.length} changes, seen by ${[...seen.keys()].join(', ')}`,
      findings: [
        ...findings,
        ...blind.map(([id, named]) => `${id} named ${named.join()} for ${leaders.join()}`),
      ],
    };
  });
}

async function runStore(store: Store): Promise<void> {
  const site = await store.share('interop');
  const { mixes, lines, elections } = chosenRows(store);
  const chosen = ({ title }: { readonly title: string }): boolean => title.includes(values.only);
  console.log(`\n${store.name}: mixtures`);
  for (const mix of mixes.filter(chosen)) await mixRow(site, mix);
  console.log(
    `\n${store.name}: stopped while they hold; ms until the next one holds (ms until it hears of its loss)`,
  );
  for (const line of lines.filter(chosen)) await lineRows(site, line);
  console.log(`\n${store.name}: elections`);
  for (const election of elections.filter(chosen)) await electionRow(site, election);
}

for (const store of chosenStores()) await runStore(store);
await stopShared();
process.exitCode = wrong === 0 ? 0 : 1;
