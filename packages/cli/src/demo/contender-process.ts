import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { ContendEvent } from '../contend/event.ts';
import { introducing } from '../contend/introduction.ts';
import type { Order, Report } from '../contend/parent.ts';
import { redact } from '../secrets.ts';
import { later, type Actor, type ContenderScript, type StageSettings } from './stage.ts';

const END_WITHIN_MS = 1_000;

/** Settings of a contender process. */
export interface ContenderSettings extends StageSettings {
  /**
   * URL of the store, as the user entered it. It is passed in the environment, because other users can see a
   * command line.
   */
  readonly url: string;
  /** Secret that the contender process sends at the start of each connection to its proxy. */
  readonly secret?: string | undefined;
  readonly ttlSeconds: number;
  readonly part: ContenderScript;
  readonly gapMs: number;
  /** Whether the contender joins the queue again after a claim that failed with a retryable error. */
  readonly keepsGoing?: boolean;
  readonly emit: (event: ContendEvent) => void;
  readonly onReport?: (report: Report) => void;
}

/** A contender that runs in its own process, as the command `queuelock contend --json`. */
export class ContenderProcess implements Actor {
  readonly id: string;
  readonly ended: Promise<void>;
  readonly #casting: ContenderSettings;
  readonly #child: ChildProcess;
  #last: ContendEvent | undefined;
  #budget: Extract<Report, { kind: 'budget' }> | undefined;
  #killed = false;
  #isLeaving = false;

  constructor(casting: ContenderSettings) {
    this.id = casting.part.id;
    this.#casting = casting;
    this.#child = startContender(casting);
    this.#child.on('message', (message) => {
      const report = message as Report;
      if (report.kind === 'budget') this.#budget = report;
      casting.onReport?.(report);
    });
    this.ended = this.#run();
  }

  /** Process id; `undefined` if the process could not be started. */
  get pid(): number | undefined {
    return this.#child.pid;
  }

  get provenUntil(): string | undefined {
    const holds = this.#last?.ev === 'acquired';
    return holds && this.#budget ? later(this.#budget.t, this.#budget.remainingMs) : undefined;
  }

  /** Sends an order to the contender. It has no effect after the process has ended. */
  order(order: Order): void {
    this.#child.send(order, () => undefined);
  }

  /**
   * Orders the contender to leave the queue, by SIGTERM. Sends the signal only once, because a second one
   * would end the process immediately.
   */
  leave(): void {
    if (!this.#isLeaving) this.#child.kill('SIGTERM');
    this.#isLeaving = true;
  }

  crash(): void {
    this.#killed = true;
    this.#child.kill('SIGKILL');
  }

  async close(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.leave();
      const overdue = setTimeout(() => {
        this.crash();
      }, END_WITHIN_MS);
      await this.ended;
      clearTimeout(overdue);
    }
  }

  async #run(): Promise<void> {
    const { stdout, stderr } = this.#child;
    let complaint = '';
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    if (stdout) {
      createInterface(stdout).on('line', (line) => {
        this.#follow(JSON.parse(line) as ContendEvent);
      });
    }
    const code = await ended(this.#child);
    if (code === 1 || code === 2) this.#failed(complaint);
  }

  #follow(event: ContendEvent): void {
    // The contender requests the lock again, so the remaining time that it reported for its previous hold no
    // longer applies.
    if (event.ev === 'requesting') this.#budget = undefined;
    this.#last = event;
    this.#casting.emit(event);
  }

  /**
   * Emits an error event when the process could not be started. All other errors are in the contender's own
   * history.
   */
  #failed(complaint: string): void {
    if (this.#killed || this.#last?.ev === 'error') return;
    const { name, stamp, emit } = this.#casting;
    const message = redact(complaint.trim().split('\n')[0] ?? '') || 'the process of the contender failed';
    emit({ t: stamp(), id: this.id, ev: 'error', name, n: this.#last?.n ?? 1, code: 'EXIT', message });
  }
}

/**
 * Starts the contender in its own process group. So Ctrl-C reaches only the demo, which then ends its
 * contenders in an orderly way.
 */
function startContender({
  name,
  part,
  url,
  secret,
  ttlSeconds,
  gapMs,
  keepsGoing,
}: ContenderSettings): ChildProcess {
  const [, script = ''] = process.argv;
  const what = ['contend', name, '--json', '--id', part.id, '--count', String(part.rounds)];
  const pace = ['--hold', String(part.holdMs), '--gap', String(gapMs), '--ttl', String(ttlSeconds)];
  const args = [...process.execArgv, script, ...what, ...pace, ...(keepsGoing ? ['--keep'] : [])];
  return spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, QUEUELOCK_URL: url, ...(secret === undefined ? {} : introducing(secret)) },
    detached: true,
  });
}

/**
 * Resolves with the exit code of the process once all its output is read. The code is `null` after a signal,
 * and 1 if the process could not be started.
 */
async function ended(child: ChildProcess): Promise<number | null> {
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code;
  } catch {
    return 1;
  }
}
