import { performance } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import type { LockClient, QueuesState } from '@queuelock/core';
import type { CommandContext } from '../client.ts';
import { jsonLine } from '../printer.ts';
import { EMPTY_METER, metered, rowsOf } from './meter.ts';
import { writeTable } from './output.ts';
import { count, counted, timeOfDay } from './text.ts';
import { LIST_COLUMNS, listRow } from './top-frame.ts';
import { FIRST_STATE, chosen } from './top-state.ts';

/** The client, the output and the queues of a command that prints a list of queues. */
export interface Listing extends CommandContext {
  /** The client's method `queues`, which returns the stream of all queues with a prefix. */
  readonly list: Pick<LockClient, 'queues'>;
}

/** Which queues to print, how often, and in which format. */
export interface BatchSettings {
  readonly prefix: string;
  readonly everyMs: number;
  /** Number of snapshots to print. Default: until the command is stopped. */
  readonly count: number | undefined;
  readonly json: boolean;
}

const ROWS = 20;

/**
 * Prints snapshots of the queues one below the other. `queuelock top` does so with `--json` or `--count`, and
 * when its output cannot be redrawn in place.
 */
export async function runBatch({ list, lines, stop }: Listing, settings: BatchSettings): Promise<void> {
  const { prefix, everyMs, json } = settings;
  let meter = EMPTY_METER;
  let seen: QueuesState = { status: 'connecting', queues: [] };
  const watch = list.queues(prefix).subscribe({
    next: (state) => {
      if (state.status === 'live') meter = metered(meter, state.queues, performance.now());
      seen = state;
    },
    error: () => undefined,
  });
  try {
    for (let number = 1; number <= (settings.count ?? Number.POSITIVE_INFINITY); number += 1) {
      await pause(everyMs, undefined, { signal: stop.signal });
      const rows = chosen(rowsOf(meter, performance.now()), FIRST_STATE);
      const t = Date.now();
      const { status } = seen;
      if (json) lines.write(jsonLine({ t, status, queues: rows }));
      else {
        const stale = status === 'live' ? '' : '  the server does not respond, this is the last known state';
        lines.write(`${timeOfDay(t).slice(0, 8)}  ${counted(rows.length, 'queue')}${stale}`);
        if (rows.length > 0) writeTable(lines, LIST_COLUMNS, rows.slice(0, ROWS).map(listRow));
        if (rows.length > ROWS) lines.write(`and ${count(rows.length - ROWS)} more`);
      }
    }
  } catch (error) {
    if (!stop.signal.aborted) throw error;
  } finally {
    watch.unsubscribe();
  }
}
