import { onLoss, stampOf } from '@queuelock/harness/lived-time';
import { STANDSTILL } from '@queuelock/harness/check/standstills';
import type { Recorder } from '@queuelock/harness/check/worker-record';

// Shortest time in milliseconds without processor time that is recorded as a fault of the machine. Shorter
// ones are normal when processes share processors.
const LEAST_MS = 200;

/** Records the times in which this process stalled as faults of the machine, until the returned function is called. */
export function recordStandstills(recorder: Recorder, nextNumber: () => number): () => void {
  return onLoss(({ from, to, lostMs }) => {
    if (lostMs <= LEAST_MS) return;
    const number = nextNumber();
    recorder.tell({ t: stampOf(from), ev: 'fault', number, what: STANDSTILL, target: 'machine' });
    recorder.tell({ t: stampOf(to), ev: 'healed', number });
  });
}
