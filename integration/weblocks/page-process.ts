/**
 * Runs one test file as the page of a browser. Argument: a `PageOrder` as JSON. Prints its results as one
 * line of JSON.
 */
import { writeSync } from 'node:fs';
import { MemoryOrigin, processesAt } from './contexts.ts';
import { locksAt, type Origin } from './origin.ts';
import { runPage } from './page.ts';

/** The test file to run, and the store of its locks. */
export interface PageOrder {
  readonly directory: string;
  readonly file: string;
  readonly subtestMs: number;
  /** URL of the store. `memory:` means a memory server inside the process. */
  readonly origin: Origin;
  /** Script of a worker or a frame: context-process.ts, or its bundle. */
  readonly contextScript: string;
}

const { origin, contextScript, ...order } = JSON.parse(process.argv[2] ?? '') as PageOrder;
const place =
  origin.url === 'memory:'
    ? new MemoryOrigin(origin)
    : { locks: await locksAt(origin), startContext: processesAt(origin, contextScript) };
const results = await runPage({ ...order, locks: place.locks, startContext: place.startContext });
writeSync(1, `${JSON.stringify(results)}\n`);
// Ends the process although some tests hold locks forever, as when a browser page is closed.
process.exit();
