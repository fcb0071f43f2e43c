import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';
import { fileURLToPath } from 'node:url';
import type { Told } from './scheduled-jobs.ts';

const SCRIPT = fileURLToPath(new URL('member.ts', import.meta.url));

/** Every two seconds: a busy machine fires in time. */
export const PATTERN = '*/2 * * * * *';
export const TICK_MS = 2_000;

/** What a member prints. */
export type MemberEvent = { readonly ev: 'ready' } | Told;

/** What a member is ordered. */
export interface MemberOrder {
  /** To schedule its jobs. */
  readonly start?: boolean;
  /** To end its works, those to come too. */
  readonly go?: boolean;
}

/** Where the members meet, and for which jobs. */
export interface Where {
  readonly url: string;
  readonly ttlMs: number;
  /** Of `JOBS`. */
  readonly jobs: readonly string[];
}

/** One of several processes that run the same jobs. */
export class Member extends ScriptProcess<MemberEvent> {
  isKilled = false;

  constructor({ url, ttlMs, jobs }: Where, seed?: number) {
    super(scriptOf(SCRIPT), [
      url,
      String(ttlMs),
      jobs.join(';'),
      ...(seed === undefined ? [] : [String(seed)]),
    ]);
  }

  /** What it printed of its jobs. */
  get told(): readonly Told[] {
    return this.events.filter((event) => event.ev !== 'ready');
  }

  /** Resolves when so many more events were printed. */
  async untilMore(count: number): Promise<void> {
    const target = this.events.length + count;
    await this.until(() => this.events.length >= target);
  }

  /** Resolves when the tick of the job, or a later one, is decided in this process. */
  async untilTold(job: string, tick: string): Promise<void> {
    await this.until((event) => event.ev === 'told' && event.job === job && event.tick >= tick);
  }

  order(order: MemberOrder): void {
    this.tell(order);
  }

  override kill(): ReturnType<ScriptProcess['kill']> {
    this.isKilled = true;
    return super.kill();
  }
}
