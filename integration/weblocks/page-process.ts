/** Runs one test file as the page of a browser. Argument: a PageOrder as JSON. Prints its results as one line of JSON. */
import { writeSync } from 'node:fs';
import { MemoryOrigin, processesAt } from './contexts.ts';
import { locksAt, type Origin } from './origin.ts';
import { runPage } from './page.ts';

/** What to run, and where. */
export interface PageOrder {
  readonly directory: string;
  readonly file: string;
  readonly subtestMs: number;
  /** `memory:` is a server inside the process. */
  readonly origin: Origin;
  /** What runs a worker or a frame: context-process.ts, or what was made of it. */
  readonly contextScript: string;
}

const { origin, contextScript, ...order } = JSON.parse(process.argv[2] ?? '') as PageOrder;
const place =
  origin.url === 'memory:'
    ? new MemoryOrigin(origin)
    : { locks: await locksAt(origin), startContext: processesAt(origin, contextScript) };
const results = await runPage({ ...order, locks: place.locks, startContext: place.startContext });
writeSync(1, `${JSON.stringify(results)}\n`);
// What the tests hold for ever ends here, as with a page that is closed.
process.exit();
