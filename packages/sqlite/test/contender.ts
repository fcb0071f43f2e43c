// A process that contends for a lock: contender.ts KIND FILE ROUNDS HOLD_MS GAP_MS LOG. It writes each event to
// LOG synchronously, before it continues, so that no event is missing when the process is killed.
import { closeSync, openSync, writeSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as pause } from 'node:timers/promises';
import { machineTime } from '../src/base/machine.ts';
import type { ContenderEvent } from './contest.ts';
import { LOCKERS } from './lockers.ts';

const [kind = '', file = '', rounds = '', holdMs = '', gapMs = '', log = ''] = process.argv.slice(2);
const locker = await LOCKERS[kind]!(file);
const out = openSync(log, 'a');
const delay = monitorEventLoopDelay({ resolution: 1 });

function say(event: ContenderEvent): void {
  console.log(JSON.stringify(event));
}

function note(event: string, token: number): void {
  writeSync(out, `${event} ${token} ${machineTime()}\n`);
}

say({ ev: 'ready' });
await new Promise((resolve) => process.once('message', resolve));
delay.enable();
for (let round = 0; round < Number(rounds); round += 1) {
  note('asked', 0);
  await locker.run(async (token) => {
    note('granted', token);
    if (Number(holdMs) > 0) await pause(Number(holdMs));
    note('released', token);
  });
  if (Number(gapMs) > 0) await pause(Number(gapMs));
}
delay.disable();
await locker.close();
closeSync(out);
say({ ev: 'blocks', blockP999Ms: delay.percentile(99.9) / 1e6, blockMaxMs: delay.max / 1e6 });
process.disconnect();
