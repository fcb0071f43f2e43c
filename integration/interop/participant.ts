import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { EventLog } from '@queuelock/harness/services/event-log';
import { freeze } from '@queuelock/harness/faults';
import { dyingWithParent } from '@queuelock/harness/services/child';
import { signalQuietly } from '@queuelock/harness/services/reaper';
import type { Kind } from './kinds.ts';
import { participants } from './programs.ts';
import type { InteropEvent } from './protocol.ts';

/** How it ended. */
export interface Ending {
  readonly code: number | null;
  readonly stderr: string;
}

export interface Task {
  readonly kind: Kind;
  readonly id: string;
  /** `host:port`. */
  readonly endpoint: string;
  /** The same as a URL, for participants of ours. */
  readonly url: string;
  readonly name: string;
  /** 0: until `enough`. */
  readonly rounds: number;
  /** Negative: until `tell`. */
  readonly holdMs: number;
  readonly ttlMs?: number;
}

const running = new Set<Participant>();

/** Ends what a test left running, also what is frozen. For `afterEach`. */
export async function endParticipants(): Promise<void> {
  await Promise.all([...running].map((participant) => participant.crash()));
}

/** Starts them all, or none where a program cannot be had; resolves when they are connected and wait for a word to begin. */
export async function startParticipants(tasks: readonly Task[]): Promise<Participant[]> {
  await Promise.all(tasks.map(({ kind }) => participants[kind.language]()));
  return Promise.all(tasks.map(startParticipant));
}

async function startParticipant(task: Task): Promise<Participant> {
  const { kind, id, name, rounds, holdMs, ttlMs } = task;
  const [program, ...first] = await participants[kind.language]();
  const at = kind.language === 'Node' ? urlFor(task) : task.endpoint;
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

/** A process that stands in a queue, see protocol.ts, with all that it starts itself: they die and freeze together. */
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
    // Detached is the head of a process group.
    this.#child = spawn(program, args, { detached: true, stdio: 'pipe' });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.#stderr += text));
    // It may have died.
    this.#child.stdin!.on('error', () => undefined);
    createInterface(this.#child.stdout!).on('line', (line) =>
      this.#log.add(JSON.parse(line) as InteropEvent),
    );
    running.add(this);
    this.ended = this.#end();
  }

  /** What it said so far, and what was done to it. */
  get events(): readonly InteropEvent[] {
    return this.#log.events;
  }

  /** The first event that matches, said already or to come. Rejects when the process ends without it. */
  async until(matches: (event: InteropEvent) => boolean, what: string): Promise<InteropEvent> {
    const without = this.ended.then(({ code, stderr }) => {
      throw new Error(`${this.id} ended before "${what}" (${String(code)}): ${stderr}`);
    });
    return this.#log.first(matches, without);
  }

  /** The first event of this kind; in this round, if one is given. */
  untilEvent(ev: InteropEvent['ev'], n?: number): Promise<InteropEvent> {
    return this.until((event) => event.ev === ev && (n === undefined || event.n === n), ev);
  }

  /** A line: begin, or the hold is over. */
  tell(): void {
    this.#child.stdin!.write('\n');
  }

  /** No more rounds. */
  enough(): void {
    this.#child.stdin!.end();
  }

  /** SIGKILL; resolves when it is gone. */
  async crash(): Promise<void> {
    this.#note('killed');
    this.#signal('SIGKILL');
    await this.ended;
  }

  /** Resolves when all of it stands still. */
  async freeze(): Promise<void> {
    this.#note('frozen');
    this.#signal('SIGSTOP');
    await freeze(this.#child.pid!);
  }

  /** It goes on, and may end at once. */
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
