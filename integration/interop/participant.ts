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

/** How a participant ended. */
export interface Ending {
  readonly code: number | null;
  readonly stderr: string;
}

export interface Task {
  readonly kind: Kind;
  readonly id: string;
  /** Address `host:port`. */
  readonly endpoint: string;
  /** The same as a URL, for participants with our library. */
  readonly url: string;
  readonly name: string;
  /** Number of rounds; 0: until `enough`. */
  readonly rounds: number;
  /** Duration of a hold; negative: until `tell`. */
  readonly holdMs: number;
  readonly ttlMs?: number;
}

const running = new Set<Participant>();

/** Ends processes that a test left running, also frozen ones. For `afterEach`. */
export async function endParticipants(): Promise<void> {
  await Promise.all([...running].map((participant) => participant.crash()));
}

/** Starts all participants, or none if a program is not available. Resolves when they are connected and wait for the start. */
export async function startParticipants(tasks: readonly Task[]): Promise<Participant[]> {
  await Promise.all(tasks.map(({ kind }) => commandOf(kind)));
  return Promise.all(tasks.map(startParticipant));
}

/** Whether it is a client of this repository, which also notices a loss as soon as it runs again. */
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

/** A process that contends for a queue, see protocol.ts, with its descendants: they are killed and frozen together. */
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
    // A detached process leads a process group.
    this.#child = spawn(program, args, { detached: true, stdio: 'pipe' });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    // The process may have died.
    this.#child.stdin!.on('error', () => undefined);
    createInterface(this.#child.stdout!).on('line', (line) =>
      this.#log.add(JSON.parse(line) as InteropEvent),
    );
    running.add(this);
    this.ended = this.#end();
  }

  /** Its events, and actions on it. */
  get events(): readonly InteropEvent[] {
    return this.#log.events;
  }

  /** Resolves with the first event that matches, reported already or to come. Rejects when the process ends without it. */
  async until(matches: (event: InteropEvent) => boolean, what: string): Promise<InteropEvent> {
    const without = this.ended.then(({ code, stderr }) => {
      throw new Error(`${this.id} ended before "${what}" (${String(code)}): ${stderr}`);
    });
    return this.#log.first(matches, without);
  }

  /** Resolves with the first event of this kind; of this round, if one is given. */
  untilEvent(ev: InteropEvent['ev'], n?: number): Promise<InteropEvent> {
    return this.until((event) => event.ev === ev && (n === undefined || event.n === n), ev);
  }

  /** Sends a line: begin, or end the hold. */
  tell(): void {
    this.#child.stdin!.write('\n');
  }

  /** Ends after the present round. */
  enough(): void {
    this.#child.stdin!.end();
  }

  /** Sends SIGKILL; resolves when the process has ended. */
  async crash(): Promise<void> {
    this.#note('killed');
    this.#signal('SIGKILL');
    await this.ended;
  }

  /** Resolves when all its processes are stopped. */
  async freeze(): Promise<void> {
    this.#note('frozen');
    this.#signal('SIGSTOP');
    await freeze(this.#child.pid!);
  }

  /** Resumes it; it may end at once. */
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
