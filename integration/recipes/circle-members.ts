import { fileURLToPath } from 'node:url';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';

const SCRIPT = fileURLToPath(new URL('circle-member.ts', import.meta.url));

/** A queue: its store, and its name in the store. */
export interface Spot {
  readonly url: string;
  readonly ttlMs: number;
  readonly name: string;
}

/** The task of one process of a deadlock: its call chain holds one lock and waits for another lock. */
export interface Member {
  readonly owner: string;
  readonly holds: Spot;
  readonly waitsFor: Spot;
  /**
   * Queues in which the process looks for deadlocks. If it finds one, it may give up its wait to resolve it.
   * Default: none.
   */
  readonly yieldsOver?: readonly Spot[];
}

/** An event that a process of a deadlock prints. */
export interface CircleEvent {
  readonly ev:
    | 'holds'
    | 'waits'
    /** The process was granted the lock for which it waited, and has released both of its locks. */
    | 'done'
    /** The process has given up its wait to resolve the deadlock, and has released its lock. */
    | 'gave-up';
  /** Id of the entry that holds or waits. Present in the events `holds` and `waits`. */
  readonly id?: string;
  /** Error code with which the wait ended. Present in the event `gave-up`. */
  readonly code?: string;
}

/** A separate process that takes part in a deadlock. It begins to wait when the test sends it a message. */
export class MemberProcess extends ScriptProcess<CircleEvent> {
  readonly member: Member;

  constructor(member: Member) {
    super(scriptOf(SCRIPT), [JSON.stringify(member)]);
    this.member = member;
  }

  async idOf(ev: 'holds' | 'waits'): Promise<string> {
    return (await this.untilEvent(ev)).id!;
  }
}
