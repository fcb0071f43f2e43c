import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { EventLog } from '@queuelock/harness/services/event-log';
import { freeze } from '@queuelock/harness/faults';
import { dyingWithParent } from '@queuelock/harness/services/child';
import { signalQuietly } from '@queuelock/harness/services/reaper';
import type { Kind } from './kinds.ts';
import { participants, type CommandLine } from './programs.ts';
import type { InteropEvent } from './protocol.ts';

/** How a participant's process ended. */
export interface Ending {
  readonly code: number | null;
  readonly stderr: string;
}

export interface Task {
  readonly kind: Kind;
  readonly id: string;
  /** Address of the server, `host:port`. */
  readonly endpoint: string;
  /** Address of the server as a URL, for participants that use queuelock. */
  readonly url: string;
  readonly name: string;
  /**
   * How many times the participant joins the queue. If it is 0, it joins again and again until the test calls
   * `enough`.
   */
  readonly rounds: number;
  /**
   * Duration of a hold in milliseconds. If it is negative, the participant holds until the test calls its
   * method `tell`.
   */
  readonly holdMs: number;
  readonly ttlMs?: number;
}

const running = new Set<Participant>();

/** Kills processes that a test left running, also frozen ones. Call it in `afterEach`. */
export async function endParticipants(): Promise<void> {
  await Promise.all([...running].map((participant) => participant.crash()));
}

/**
 * Starts all participants, or none if a program is not available. Resolves when all are connected. A
 * participant joins the queue only when its method `tell` is called.
 */
export async function startParticipants(tasks: readonly Task[]): Promise<Participant[]> {
  await Promise.all(tasks.map(({ kind }) => commandOf(kind)));
  return Promise.all(tasks.map(startParticipant));
}

/**
 * Returns whether the participant uses queuelock. Such a participant notices a loss as soon as its process
 * resumes.
 */
export function isOurs({ language, command }: Kind): boolean {
  return language === 'Node' && command === undefined;
}

async function commandOf({ language, command }: Kind): Promise<CommandLine> {
  return command ?? participants[language]();
}

async function startParticipant(task: Task): Promise<Participant> {
  const { kind, id, name, rounds, holdMs, ttlMs } = task;
  const [program, ...first] = await commandOf(kind);
  const at = isOurs(kind) ? urlFor(task) : task.endpoint;
  const numbers = [rounds, holdMs, ...(ttlMs === undefined ? [] : [ttlMs])].map(String);
  const command = { program, args: [...first, at, name, kind.recipe, id, ...numbers] };
  const participant = new Participant(task, await dyingWithParent(command));
  await participant.untilEvent('ready');
  return participant;
}

function urlFor({ url, kind: { naming } }: Task): string {
  if (naming === undefined) return url;
  return `${url}${url.includes('?') ? '&' : '?'}naming=${encodeURIComponent(naming)}`;
}

/**
 * A process that contends for a queue, see protocol.ts. Its descendants are killed and frozen together with
 * it.
 */
export class Participant {
  readonly id: string;
  readonly kind: Kind;
  readonly ended: Promise<Ending>;
  readonly #child: ChildProcess;
  readonly #log = new EventLog<InteropEvent>();
  #stderr = '';

  constructor({ id, kind }: Task, { program, args }: { program: string; args: readonly string[] }) {
    this.id = id;
    this.kind = kind;
    // A detached process has its own process group, so that its descendants can be signalled with it.
    this.#child = spawn(program, args, { detached: true, stdio: 'pipe' });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    // Ignores the error of writing to a process that has died.
    this.#child.stdin!.on('error', () => undefined);
    createInterface(this.#child.stdout!).on('line', (line) =>
      this.#log.add(JSON.parse(line) as InteropEvent),
    );
    running.add(this);
    this.ended = this.#end();
  }

  /** The events that the participant reported, and the faults of the harness on it. */
  get events(): readonly InteropEvent[] {
    return this.#log.events;
  }

  /**
   * Resolves with the first event that matches. Events that were already reported count too. Rejects when the
   * process ends without such an event.
   */
  async until(matches: (event: InteropEvent) => boolean, what: string): Promise<InteropEvent> {
    const without = this.ended.then(({ code, stderr }) => {
      throw new Error(`${this.id} ended before "${what}" (${String(code)}): ${stderr}`);
    });
    return this.#log.first(matches, without);
  }

  /**
   * Resolves with the participant's first event of the kind `ev`. If `n` is given, the event must belong to
   * the round `n`.
   */
  untilEvent(ev: InteropEvent['ev'], n?: number): Promise<InteropEvent> {
    return this.until((event) => event.ev === ev && (n === undefined || event.n === n), ev);
  }

  /** Orders the participant to begin, or to end its hold, by a line on its standard input. */
  tell(): void {
    this.#child.stdin!.write('\n');
  }

  /**
   * Orders the participant to end after its present round, which lasts from joining the queue to leaving it.
   */
  enough(): void {
    this.#child.stdin!.end();
  }

  /** Kills the participant with SIGKILL. Resolves when its process has ended. */
  async crash(): Promise<void> {
    this.#note('killed');
    this.#signal('SIGKILL');
    await this.ended;
  }

  /** Freezes the participant with SIGSTOP. Resolves when all its processes are stopped. */
  async freeze(): Promise<void> {
    this.#note('frozen');
    this.#signal('SIGSTOP');
    await freeze(this.#child.pid!);
  }

  /** Resumes a frozen participant, which may end at once. */
  thaw(): void {
    this.#note('thawed');
    this.#signal('SIGCONT');
  }

  #signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    if (running.has(this)) signalQuietly(-this.#child.pid!, name);
  }

  #note(ev: 'killed' | 'frozen' | 'thawed'): void {
    this.#log.add({ t: process.hrtime.bigint().toString(), id: this.id, ev, n: 0 });
  }

  async #end(): Promise<Ending> {
    const [code] = (await once(this.#child, 'close')) as [number | null];
    running.delete(this);
    return { code, stderr: this.#stderr };
  }
}
