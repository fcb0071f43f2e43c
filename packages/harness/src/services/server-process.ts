import type { ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { freezeAll, thawAll } from '../faults/freeze.ts';
import { endChild, endingOf, isRunning, spawnChild, type Command } from './child.ts';
import { pickPorts } from './ports.ts';
import { reapAtExit, thawingBelow } from './reaper.ts';
import type { ProcessService } from './service.ts';
import { until } from './until.ts';

/** A server program: its command, and the probe that detects that it responds. */
export interface ServerProgram {
  /** Name of the server, for the names of its directories and for errors. */
  readonly name: string;
  /** Number of ports that the server binds; the first one is for clients. */
  readonly ports: number;
  /**
   * Returns the command that starts the server with the directory and ports of `place`. `place.data` is an
   * empty directory for the server's data. The function may write files into `place.directory`.
   */
  readonly command: (place: Place) => Promise<Command>;
  /**
   * Resolves with the version once the server serves requests. Rejects as long as the server does not serve
   * requests yet, and when an unrelated server responds on the same port.
   */
  readonly probe: (place: Place) => Promise<string>;
}

export interface Place {
  /** IP address that the server binds. */
  readonly host: string;
  readonly directory: string;
  readonly data: string;
  readonly ports: readonly number[];
}

const START_WITHIN_MS = 30_000;
const ATTEMPTS = 5;

/** Starts the program in a new temporary directory on ports of 127.0.0.1. Tries other ports when another process took one. */
export async function startProcess(program: ServerProgram): Promise<ProcessService> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await pickPorts(program.ports);
    const server = new ServerProcess(program, await newPlace(program.name, { host: '127.0.0.1', ports }));
    try {
      await server.start();
      return server;
    } catch (error) {
      const taken = server.portTaken();
      await server.stop();
      if (!taken || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Makes a new temporary directory for a server on this address, below `QUEUELOCK_SERVER_DATA` or the system's directory. */
export async function newPlace(name: string, address: Pick<Place, 'host' | 'ports'>): Promise<Place> {
  const directory = mkdtempSync(join(process.env['QUEUELOCK_SERVER_DATA'] ?? tmpdir(), `queuelock-${name}-`));
  const data = join(directory, 'data');
  await mkdir(data, { mode: 0o700 });
  return { directory, data, ...address };
}

export class ServerProcess implements ProcessService {
  readonly way = 'process';
  readonly endpoints: readonly string[];
  readonly endpoint: string;
  readonly directory: string;
  version = '';
  readonly #program: ServerProgram;
  readonly #place: Place;
  #child: ChildProcess | undefined;
  #takeBack: () => void;

  constructor(program: ServerProgram, place: Place) {
    this.#program = program;
    this.#place = place;
    this.directory = place.directory;
    this.endpoint = `${place.host}:${place.ports[0]}`;
    this.endpoints = [this.endpoint];
    const pidOf = (): number | undefined => this.#runningPid();
    this.#takeBack = reapAtExit({
      directory: place.directory,
      get pid() {
        return pidOf();
      },
    });
  }

  get #log(): string {
    return join(this.directory, 'server.log');
  }

  get pid(): number {
    const pid = this.#runningPid();
    if (pid === undefined) throw new Error(`${this.#program.name} on ${this.endpoint} is not running`);
    return pid;
  }

  get running(): boolean {
    return this.#runningPid() !== undefined;
  }

  async start(): Promise<void> {
    await this.spawn();
    await this.answers();
  }

  /** Starts the server's process on the existing data, without waiting for a response. @param env additional environment variables */
  async spawn(env: Readonly<Record<string, string>> = {}): Promise<void> {
    const command = await this.#program.command(this.#place);
    await spawnChild(
      { ...command, env: { ...command.env, ...env } },
      { directory: this.directory, log: this.#log },
      (spawned) => {
        this.#child = spawned;
      },
    );
  }

  /** Resolves when the server serves requests. Rejects with the end of its log when it ends before that or takes `withinMs` milliseconds. */
  async answers(withinMs = START_WITHIN_MS): Promise<void> {
    try {
      this.version = await until(() => this.#program.probe(this.#place), {
        what: `${this.#program.name} answers on ${this.endpoint}`,
        withinMs,
        hopeless: () => this.#ending(),
      });
    } catch (error) {
      throw new Error(`${(error as Error).message}; the end of its log:\n${this.#logTail()}`, {
        cause: error,
      });
    }
  }

  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    await rm(this.directory, { recursive: true, force: true, maxRetries: 5 });
    this.#takeBack();
  }

  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  async freeze(): Promise<void> {
    await freezeAll(this.pid);
  }

  async thaw(): Promise<void> {
    await thawAll(this.pid);
  }

  /**
   * Sends a signal to the server's process without waiting for its effect. Does nothing when the process is
   * not running.
   */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void {
    if (this.running) this.#child?.kill(signal);
  }

  // Restarts the server on the same port, because clients know the port. If another process has taken the
  // port, the start is retried. It is retried too while the processes of a killed PostgreSQL's connections
  // still exist, because they block its data directory.
  async restart(): Promise<void> {
    await this.#end('SIGTERM');
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.start();
        return;
      } catch (error) {
        const mayRetry = this.portTaken() || this.#isDataTaken();
        await this.#end('SIGKILL');
        if (!mayRetry || attempt === ATTEMPTS) throw error;
        await pause(200);
      }
    }
  }

  portTaken(): boolean {
    return /address already in use/i.test(this.#logTail());
  }

  #isDataTaken(): boolean {
    return /pre-existing shared memory block/.test(this.#logTail());
  }

  async #end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const [child, pid] = [this.#child, this.#runningPid()];
    if (child !== undefined && pid !== undefined) await thawingBelow(pid, () => endChild(child, signal));
  }

  #ending(): string | undefined {
    if (this.#child === undefined) return 'it was not started';
    return isRunning(this.#child) ? undefined : `it ended by itself (${endingOf(this.#child)})`;
  }

  #runningPid(): number | undefined {
    return this.#child !== undefined && isRunning(this.#child) ? this.#child.pid : undefined;
  }

  /** Returns the end of the log, or an empty text if no log exists because the process was never started. */
  #logTail(): string {
    if (!existsSync(this.#log)) return '';
    return readFileSync(this.#log, 'utf8').trimEnd().split('\n').slice(-40).join('\n');
  }
}
