import { appendFileSync } from 'node:fs';
import type { Service } from './service.ts';

const teardowns: (() => Promise<void>)[] = [];

/** `teardown` runs when the tests of this process are over. */
export function atTeardown(teardown: () => Promise<void>): void {
  teardowns.push(teardown);
}

/** One server for all test files of this process: started by the first who asks, stopped by `stopShared`. */
export function shareService<S extends Service>(
  name: string,
  start: () => Promise<S>,
): (what: string) => Promise<S> {
  let started: Promise<S> | undefined;
  return async (what) => {
    if (started === undefined) {
      const service = (started = start());
      atTeardown(async () => {
        started = undefined;
        // Whoever asked for a server that did not start has the error already.
        const running = await service.catch(() => undefined);
        await running?.stop();
      });
    }
    const service = await started;
    recordRanAgainst(what, name, service);
    return service;
  };
}

/** Stops every shared server, the last one first. The next who asks starts another one. */
export async function stopShared(): Promise<void> {
  for (const teardown of teardowns.splice(0).reverse()) await teardown();
}

/** Appends a line {"what":…,"against":"etcd 3.4.23 (process)"} to the file that QUEUELOCK_RAN_AGAINST names, if it does. */
export function recordRanAgainst(what: string, name: string, { version, way }: Service): void {
  recordLine(what, `${name} ${version} (${way})`);
}

/** As `recordRanAgainst`, in words of your own. */
export function recordLine(what: string, against: string): void {
  const file = process.env['QUEUELOCK_RAN_AGAINST'];
  if (file) appendFileSync(file, `${JSON.stringify({ what, against })}\n`);
}
