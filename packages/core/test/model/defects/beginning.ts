import { inCore, inSession, type Defect } from './defect.ts';

/** Seeded defects of the code that starts a hold. */
export const BEGINNING_DEFECTS: readonly Defect[] = [
  inCore('a hold starts without the time that its work needs', 'enough time', [
    'hold/grant.ts',
    ' && remainingMs >= minRemainingMs;',
    ';',
  ]),
  inCore(
    'a hold that cannot have enough time waits for ever',
    ['progress', 'at once'],
    ['hold/grant.ts', 'take(BEATS_TO_WAIT_FOR)', 'take(Infinity)'],
  ),
  inCore('an unclean end causes no delay', 'handover', [
    'hold/grant.ts',
    'ids.length === 0 ?',
    'ids.length >= 0 ?',
  ]),
  inSession('a hold leaves no trace', 'handover', ({ traces }) => ({
    traces: { leave: async () => [], erase: async (queue, ids) => traces?.erase(queue, ids) },
  })),
  inSession('the trace of a dead holder is erased before the delay', 'handover', ({ traces }) => ({
    traces: {
      leave: async (queue, id) => {
        const ids = (await traces?.leave(queue, id)) ?? [];
        await traces?.erase(queue, ids);
        return [];
      },
      erase: async () => undefined,
    },
  })),
];
