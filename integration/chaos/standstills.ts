import { hearLosses, stampOf } from '@queuelock/harness/lived-time';
import { STANDSTILL } from '@queuelock/harness/check/standstills';
import type { Recorder } from '@queuelock/harness/check/worker-record';

// Less than that is what processes do to each other on a machine that works.
const LEAST_MS = 200;

/** Writes down when this process stood still, as a fault of the machine; what it answers with ends that. */
export function recordStandstills(recorder: Recorder, nextNumber: () => number): () => void {
  return hearLosses(({ from, to, lostMs }) => {
    if (lostMs <= LEAST_MS) return;
    const number = nextNumber();
    recorder.tell({ t: stampOf(from), ev: 'fault', number, what: STANDSTILL, target: 'machine' });
    recorder.tell({ t: stampOf(to), ev: 'healed', number });
  });
}
