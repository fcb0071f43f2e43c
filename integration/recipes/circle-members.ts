import { fileURLToPath } from 'node:url';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';

const SCRIPT = fileURLToPath(new URL('circle-member.ts', import.meta.url));

/** A queue in a store. */
export interface Spot {
  readonly url: string;
  readonly ttlMs: number;
  readonly name: string;
}

/** A call chain: holds one lock while it waits for another. */
export interface Member {
  readonly owner: string;
  readonly holds: Spot;
  readonly waitsFor: Spot;
  /** Gives up when these queues show that it should. Default: never gives up. */
  readonly yieldsOver?: readonly Spot[];
}

/** What a member prints. */
export interface CircleEvent {
  readonly ev:
    | 'holds'
    | 'waits'
    /** It was granted what it waited for, and has released both. */
    | 'done'
    /** It does not wait any more, and has released what it held. */
    | 'gave-up';
  /** With `holds` and `waits`: of the entry. */
  readonly id?: string;
  /** With `gave-up`. */
  readonly code?: string;
}

/** A process of its own. It begins to wait when it is told to. */
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
