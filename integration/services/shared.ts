import { appendFileSync } from 'node:fs';
import { describeService, type Service } from './service.ts';

const stops: (() => Promise<void>)[] = [];

/** One server for all test files of this process: started by the first who asks, stopped by `stopShared`. */
export function shareService(
  name: string,
  start: () => Promise<Service>,
): (what: string) => Promise<Service> {
  let started: Promise<Service> | undefined;
  return async (what) => {
    if (started === undefined) {
      const service = (started = start());
      stops.push(async () => {
        started = undefined;
        // Whoever asked for a server that did not start has the error already.
        const running = await service.catch(() => undefined);
        await running?.stop();
      });
    }
    const service = await started;
    recordRanAgainst(what, describeService(name, service));
    return service;
  };
}

/** Stops every shared server. The next who asks starts another one. */
export async function stopShared(): Promise<void> {
  await Promise.all(stops.splice(0).map((stop) => stop()));
}

/** Appends a line {"what":…,"against":…} to the file that QUEUELOCK_RAN_AGAINST names: what was tested against which server. */
export function recordRanAgainst(what: string, against: string): void {
  const file = process.env['QUEUELOCK_RAN_AGAINST'];
  if (file) appendFileSync(file, `${JSON.stringify({ what, against })}\n`);
}
