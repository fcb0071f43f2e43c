import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createLockClient } from '@queuelock/core';
import { backendFromUrl } from '../backends.ts';
import type { ContendEvent } from '../contend/event.ts';
import type { BudgetReport } from '../contend/parent.ts';
import { redact } from '../failure.ts';
import { later, type Actor, type Part, type Stage, type StageSettings } from './stage.ts';

/** Or what the server accepts at least. */
const TTL_MS = 3_000;
const GAP_MS = 50;
const END_WITHIN_MS = 1_000;

export interface ProcessStageSettings extends StageSettings {
  /** As the user gave it; handed on in the environment, since others can see a command line. */
  readonly url: string;
}

/**
 * Every contender is a process of its own: `queuelock contend --json`.
 * @throws what keeps the server from being used, so that it is told once and not by every contender
 */
export async function openProcessStage(settings: ProcessStageSettings): Promise<Stage> {
  const backend = await backendFromUrl(settings.url);
  const observer = createLockClient(backend, { owner: 'observer' });
  try {
    await (await observer.tryAcquire(`${settings.name}-check`))?.release();
  } catch (error) {
    await observer.close();
    throw error;
  }
  const ttlSeconds = Math.ceil(Math.max(TTL_MS, backend.info.minTtlMs) / 1000);
  const actors: ProcessActor[] = [];
  return {
    place: `${backend.info.endpoint} (a process each)`,
    observer,
    enter(part, emit) {
      const actor = new ProcessActor({ ...settings, ttlSeconds, part, emit });
      actors.push(actor);
      return actor;
    },
    async close() {
      await Promise.all(actors.map((actor) => actor.close()));
      await observer.close();
    },
  };
}

interface Casting extends StageSettings {
  readonly url: string;
  readonly ttlSeconds: number;
  readonly part: Part;
  readonly emit: (event: ContendEvent) => void;
}

class ProcessActor implements Actor {
  readonly id: string;
  readonly gone: Promise<void>;
  readonly #casting: Casting;
  readonly #child: ChildProcess;
  #last: ContendEvent | undefined;
  #budget: BudgetReport | undefined;
  #killed = false;
  #left = false;

  constructor(casting: Casting) {
    this.id = casting.part.id;
    this.#casting = casting;
    this.#child = startContender(casting);
    this.#child.on('message', (report) => {
      this.#budget = report as BudgetReport;
    });
    this.gone = this.#live();
  }

  get provenUntil(): string | undefined {
    const holds = this.#last?.ev === 'acquired';
    return holds && this.#budget ? later(this.#budget.t, this.#budget.remainingMs) : undefined;
  }

  /** Once: a second signal would end it on the spot. */
  leave(): void {
    if (!this.#left) this.#child.kill('SIGTERM');
    this.#left = true;
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
      await this.gone;
      clearTimeout(overdue);
    }
  }

  async #live(): Promise<void> {
    const { stdout, stderr } = this.#child;
    let complaint = '';
    stderr?.setEncoding('utf8').on('data', (text: string) => {
      complaint += text;
    });
    if (stdout) {
      createInterface(stdout).on('line', (line) => {
        this.#last = JSON.parse(line) as ContendEvent;
        this.#casting.emit(this.#last);
      });
    }
    const code = await ended(this.#child);
    if (code === 1 || code === 2) this.#failed(complaint);
  }

  /** Its error is in its history, unless it could not even start. */
  #failed(complaint: string): void {
    if (this.#killed || this.#last?.ev === 'error') return;
    const { name, stamp, emit } = this.#casting;
    const message = redact(complaint.trim().split('\n')[0] ?? '') || 'its process failed';
    emit({ t: stamp(), id: this.id, ev: 'error', name, n: this.#last?.n ?? 1, code: 'EXIT', message });
  }
}

/** In a process group of its own: an interrupt from the keyboard is for the demo, which tells its contenders. */
function startContender({ name, part, url, ttlSeconds }: Casting): ChildProcess {
  const [, script = ''] = process.argv;
  const what = ['contend', name, '--json', '--id', part.id, '--count', String(part.rounds)];
  const pace = ['--hold', String(part.holdMs), '--gap', String(GAP_MS), '--ttl', String(ttlSeconds)];
  return spawn(process.execPath, [...process.execArgv, script, ...what, ...pace], {
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: { ...process.env, QUEUELOCK_URL: url },
    detached: true,
  });
}

/** Its exit code, once all its output is read; `null` after a signal, 1 if it could not be started. */
async function ended(child: ChildProcess): Promise<number | null> {
  try {
    const [code] = (await once(child, 'close')) as [number | null];
    return code;
  } catch {
    return 1;
  }
}
