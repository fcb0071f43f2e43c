import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from '@commander-js/extra-typings';
import { toPrintable, type LockClient } from '@queuelock/core';
import { watchDeadlocks, type Deadlock, type StuckWait } from '@queuelock/recipes';
import { withClient } from '../client.ts';
import type { StoreOptions } from '../config/store-selection.ts';
import { EXIT } from '../exit-codes.ts';
import { explain } from '../help.ts';
import { currentQueue } from '../current-queue.ts';
import { backendOption, jsonOption, profileOption, verboseOption } from '../options.ts';
import { printer, type Printer } from '../printer.ts';
import { currentQueues } from '../view/current-queues.ts';
import { counted } from '../view/text.ts';

interface DeadlocksOptions extends StoreOptions {
  readonly json?: true;
}

// Delay in milliseconds before the cycles are computed a second time. The queues are read at different
// moments, so the first result may contain a cycle that never existed. The second result does not contain it.
const CONFIRM_MS = 500;
const AT_A_TIME = 50;

const NOTES = `A cycle can be found only from published data: a queuelock client publishes what its call chain holds while it waits (\`holding\`,
or \`run\` within \`run\`). The youngest waiter should give up; \`queuelock kick\` removes it. Exit code ${String(EXIT.failure)}: there is a deadlock.
With --json, for each cycle: victim and waits, each with queue, owner, host, pid, order, key, waitsFor (owner and key).`;

/** Adds the command `deadlocks`, which finds cycles of waiters. */
export function addDeadlocks(program: Command): void {
  const command = program
    .command('deadlocks')
    .summary('find waiters that block each other in a cycle')
    .description('Searches for cycles of waiters in the queues whose names begin with PREFIX (default: all).')
    .argument('[prefix]', 'prefix of the queue names', '')
    .addOption(backendOption())
    .addOption(profileOption())
    .addOption(jsonOption())
    .addOption(verboseOption())
    .action(async (prefix, options) => {
      process.exitCode = await runDeadlocks(prefix, options);
    });
  explain(command, {
    notes: NOTES,
    examples: ['queuelock deadlocks', 'queuelock deadlocks accounts/ --json'],
  });
}

function runDeadlocks(prefix: string, { json, ...place }: DeadlocksOptions): Promise<number> {
  return withClient(place, async ({ client, stop, lines }) => {
    const { queues } = await currentQueues(client, prefix, stop.signal);
    // Leaves out queues without waiters, which cannot be part of a cycle.
    const names = queues.filter(({ depth }) => depth > 1).map(({ name }) => name);
    const deadlocks = await deadlocksIn(client, names, stop.signal);
    const out = printer(lines, json === true);
    for (const deadlock of deadlocks) printDeadlock(out, deadlock);
    if (deadlocks.length === 0 && !json)
      lines.write(`no deadlock among ${counted(names.length, 'queue')} with waiters`);
    return deadlocks.length === 0 ? EXIT.ok : EXIT.failure;
  });
}

async function deadlocksIn(
  client: LockClient,
  names: readonly string[],
  signal: AbortSignal,
): Promise<readonly Deadlock[]> {
  let found: readonly Deadlock[] = [];
  const watch = watchDeadlocks([{ client, names }], { confirmMs: CONFIRM_MS }).subscribe({
    next: (deadlocks) => {
      found = deadlocks;
    },
    error: () => undefined,
  });
  try {
    for (let from = 0; from < names.length; from += AT_A_TIME) {
      const some = names.slice(from, from + AT_A_TIME);
      await Promise.all(
        some.map((name) => currentQueue(client, name, { signal: AbortSignal.any([signal]) })),
      );
    }
    await pause(names.length === 0 ? 0 : 3 * CONFIRM_MS, undefined, { signal }).catch(() => undefined);
    signal.throwIfAborted();
    return found;
  } finally {
    watch.unsubscribe();
  }
}

function printDeadlock(out: Printer, { waits, victim }: Deadlock): void {
  const facts = { victim: factsOf(victim), waits: waits.map(factsOf) };
  const lines = waits.map(
    ({ name, entry, waitsFor }) =>
      `  ${ownerOf(entry)} waits in ${toPrintable(name)} for ${toPrintable(waitsFor.owner)}`,
  );
  const advice = `  the youngest is ${toPrintable(victim.entry.owner)}, in ${toPrintable(victim.name)}`;
  out.print(facts, 'deadlock', ...lines, advice);
}

function ownerOf({ owner, host, pid }: StuckWait['entry']): string {
  return toPrintable(
    host === undefined ? owner : `${owner} (${host}${pid === undefined ? '' : ` ${String(pid)}`})`,
  );
}

function factsOf({ name, entry: { owner, host, pid, order, key }, waitsFor }: StuckWait): object {
  return {
    queue: name,
    owner,
    host,
    pid,
    order,
    key,
    waitsFor: { owner: waitsFor.owner, key: waitsFor.key },
  };
}
