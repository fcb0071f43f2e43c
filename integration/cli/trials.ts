import { readArguments, refuseArguments } from '@queuelock/harness/command-line';
import { endScripts } from '@queuelock/harness/services/script-process';
import { stores } from '../scenarios/stores.ts';
import type { Store } from '../scenarios/store.ts';
import { stopShared } from '@queuelock/harness/services';
import { handOver, isSound, type Fault, type Handover } from './handovers.ts';

const FAULTS = ['frozen', 'killed', 'cut'] as const;

const HELP = `pnpm trials [--count N] [--backend etcd|ZooKeeper] [--fault ${FAULTS.join('|')}]

Runs the hand-overs of handovers.long.ts more often, for all backends and faults at the same time, unless an option selects one.
Ends with exit code 1 if a program had not ended when the next one began.

  --count N  how many of each; default: 100`;

const { values } = readArguments(
  { count: { type: 'string', default: '100' }, backend: { type: 'string' }, fault: { type: 'string' } },
  HELP,
);
const count = Number(values.count);
const chosen = stores
  .filter(({ name }) => values.backend === undefined || name.toLowerCase() === values.backend.toLowerCase())
  .flatMap((store) =>
    FAULTS.filter((fault) => [undefined, fault].includes(values.fault as Fault)).map((fault) => ({
      store,
      fault,
    })),
  );
if (!(count >= 1)) refuseArguments(`--count "${values.count}" is not a number from 1.`, HELP);
if (chosen.length === 0) refuseArguments('--backend and --fault select nothing.', HELP);

async function series(store: Store, fault: Fault): Promise<boolean> {
  const site = await store.share('trials');
  const name = `trials-${fault}-${String(process.pid)}`;
  const done: Handover[] = [];
  const onHandover = (handover: Handover): void => {
    done.push(handover);
    if (!isSound(handover)) console.log(`${store.name} ${fault}, trial ${String(done.length)}:`, handover);
    else if (done.length % 10 === 0) console.log(`${store.name} ${fault}: ${String(done.length)} done`);
  };
  await handOver({ site, name, fault, count, onHandover });
  const gaps = done.map(({ gapMs }) => gapMs).sort((a, b) => a - b);
  const sound = done.filter(isSound).length;
  console.log(
    `${store.name} ${fault}: ${String(sound)} of ${String(count)} programs had ended before the next one began; ` +
      `the gap was ${gaps[0]!.toFixed(0)} ms at least, ${gaps[Math.floor(gaps.length / 2)]!.toFixed(0)} ms in the median`,
  );
  return sound === count;
}

try {
  const sound = await Promise.all(chosen.map(({ store, fault }) => series(store, fault)));
  process.exitCode = sound.every(Boolean) ? 0 : 1;
} finally {
  await endScripts();
  await stopShared();
}
