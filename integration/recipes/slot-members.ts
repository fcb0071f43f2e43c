import { fileURLToPath } from 'node:url';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';

const SCRIPT = fileURLToPath(new URL('slot-member.ts', import.meta.url));

/** An event that a process prints when it calls jobs of slots. */
export interface SlotEvent {
  readonly ev: 'ready' | 'begun' | 'ended' | 'told';
  readonly slot: number;
  /** The outcome of `oncePer` for the slot, or the code of its error. Present in the last event of a call. */
  readonly outcome?: string;
}

/** A message of the test to a process that calls jobs of slots. */
export interface SlotOrder {
  /** Number of the slot for which the process calls `oncePer`. */
  readonly call?: number;
  /** Number of the slot whose job the process lets end. */
  readonly go?: number;
}

/** A separate process that calls `oncePer` with the same job for each slot. */
export class SlotMember extends ScriptProcess<SlotEvent> {
  constructor(
    where: { readonly url: string; readonly name: string; readonly ttlMs: number },
    promise: string,
  ) {
    super(scriptOf(SCRIPT), [where.url, where.name, String(where.ttlMs), promise]);
  }

  order(order: SlotOrder): void {
    this.tell(order);
  }

  untilSlot(ev: SlotEvent['ev'], slot: number): Promise<SlotEvent> {
    return this.until((event) => event.ev === ev && event.slot === slot);
  }
}
