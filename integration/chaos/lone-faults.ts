import { setTimeout as pause } from 'node:timers/promises';
import type { LoneTrial } from './lone-trial.ts';
import { SHORT_MS, strikeAll, type ServerFault, type StrikeOptions } from './traveller-faults.ts';

/** Makes the faults of a single server and of its clients in random order; see `strikeAll`. */
export async function strikeAllAtLoneServer(trial: LoneTrial, options?: StrikeOptions): Promise<void> {
  await strikeAll(trial, faultsOf(trial), options);
}

function faultsOf({ server }: LoneTrial): Readonly<Record<string, ServerFault>> {
  const standStill = async (ms: number): Promise<void> => {
    await server.freeze();
    await pause(ms);
    await server.thaw();
  };
  return {
    'server killed': async () => {
      await server.kill();
      await server.restart();
    },
    'server restarted': () => server.restart(),
    'server frozen': () => standStill(SHORT_MS),
    'server frozen for long': standStill,
  };
}
