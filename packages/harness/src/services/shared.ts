import { appendFileSync } from 'node:fs';
import type { Service } from './service.ts';

const teardowns: (() => Promise<void>)[] = [];

/** Registers a function that runs when all tests of this process have finished. */
export function atTeardown(teardown: () => Promise<void>): void {
  teardowns.push(teardown);
}

/** Shares one server among all test files of this process. The first caller starts it, `stopShared` stops it. */
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
        // Ignores the error of a server that did not start, because the caller that wanted the server has
        // already received the error.
        const running = await service.catch(() => undefined);
        await running?.stop();
      });
    }
    const service = await started;
    recordRanAgainst(what, name, service);
    return service;
  };
}

/** Stops every shared server, the last started one first. A later caller starts a new server. */
export async function stopShared(): Promise<void> {
  for (const teardown of teardowns.splice(0).reverse()) await teardown();
}

/**
 * Appends a line {"what":…,"against":"etcd 3.4.23 (process)"} to the file named by the environment variable QUEUELOCK_RAN_AGAINST, if it is set. It
 * records which server the tests `what` ran against.
 */
export function recordRanAgainst(what: string, name: string, { version, way }: Service): void {
  recordLine(what, `${name} ${version} (${way})`);
}

/**
 * Appends the line `{"what":…,"against":…}` to the file named by the environment variable
 * QUEUELOCK_RAN_AGAINST, if it is set. Here `against` may be any text.
 */
export function recordLine(what: string, against: string): void {
  const file = process.env['QUEUELOCK_RAN_AGAINST'];
  if (file) appendFileSync(file, `${JSON.stringify({ what, against })}\n`);
}
