import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';
import { fileURLToPath } from 'node:url';
import type { Reported } from './scheduled-jobs.ts';

const SCRIPT = fileURLToPath(new URL('member.ts', import.meta.url));

/**
 * The cron pattern of all jobs: a tick every two seconds, which leaves a busy machine enough time to fire.
 */
export const PATTERN = '*/2 * * * * *';
export const TICK_MS = 2_000;

/** The events that a member (one of the processes with the same jobs) prints for the test. */
export type MemberEvent = { readonly ev: 'ready' } | Reported;

/** The command that a test sends to a member. */
export interface MemberOrder {
  /** Whether the member shall schedule its jobs now. */
  readonly start?: boolean;
  /** Whether the member shall end its running work now, and let later work end as soon as it starts. */
  readonly go?: boolean;
}

/** The store that the processes use, and the jobs that they run. */
export interface Where {
  readonly url: string;
  readonly ttlMs: number;
  /** The names of the jobs that each process runs, from `JOBS`. */
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

  /** Returns the reports about its jobs that the process has printed. */
  get reported(): readonly Reported[] {
    return this.events.filter((event) => event.ev !== 'ready');
  }

  /** Resolves when `count` more events were printed. */
  async untilMore(count: number): Promise<void> {
    const target = this.events.length + count;
    await this.until(() => this.events.length >= target);
  }

  /** Resolves when this process knows the outcome of the tick of the job, or of a later tick. */
  async untilTold(job: string, tick: string): Promise<void> {
    await this.until((event) => event.ev === 'reported' && event.job === job && event.tick >= tick);
  }

  order(order: MemberOrder): void {
    this.tell(order);
  }

  override kill(): ReturnType<ScriptProcess['kill']> {
    this.isKilled = true;
    return super.kill();
  }
}
