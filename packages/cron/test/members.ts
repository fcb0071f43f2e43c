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

/** A command that a test sends to a member (one of the processes with the same jobs). */
export interface MemberOrder {
  /** Whether the member schedules its jobs when it receives this command. */
  readonly start?: boolean;
  /** Whether the member ends its running work when it receives this command, and later work as soon as that starts. */
  readonly go?: boolean;
}

/** The store that all processes of a test use, and the jobs that each of them schedules. */
export interface Where {
  readonly url: string;
  readonly ttlMs: number;
  /** The names of the jobs that each process schedules, as listed in `JOBS`. */
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

  /** Returns what the process has printed about its jobs. */
  get reported(): readonly Reported[] {
    return this.events.filter((event) => event.ev !== 'ready');
  }

  /** Resolves when this process has printed `count` more events than at the time of the call. */
  async untilMore(count: number): Promise<void> {
    const target = this.events.length + count;
    await this.until(() => this.events.length >= target);
  }

  /** Resolves when this process has printed the outcome of the given tick of the job, or of a later tick. */
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
