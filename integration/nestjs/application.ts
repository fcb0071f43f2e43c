import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';

/** A line that the NestJS application of a test prints as JSON: an event, such as a grant. */
export interface ApplicationEvent {
  readonly ev: string;
  readonly token?: string;
  readonly tick?: string;
  readonly url?: string;
}

/** A NestJS application in a separate process. */
export class Application {
  readonly events: ApplicationEvent[] = [];
  errors = '';
  readonly ended: Promise<{ readonly code: number | null; readonly signal: string | null }>;
  readonly #process: ChildProcess;
  readonly #waiting = new Set<() => void>();

  constructor(script: string, url: string) {
    this.#process = spawn(process.execPath, [script, url], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.ended = once(this.#process, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as string | null,
    }));
    this.#process.stderr!.on('data', (text) => (this.errors += String(text)));
    createInterface(this.#process.stdout!).on('line', (line) => {
      this.events.push(JSON.parse(line) as ApplicationEvent);
      for (const read of this.#waiting) read();
    });
  }

  get names(): readonly string[] {
    return this.events.map(({ ev }) => ev);
  }

  find(name: string): ApplicationEvent | undefined {
    return this.events.find(({ ev }) => ev === name);
  }

  /**
   * Resolves with the first event of the application that has this name. Rejects when the process ends
   * before.
   */
  async until(name: string): Promise<ApplicationEvent> {
    const seen = new Promise<ApplicationEvent>((resolve) => {
      const read = (): void => {
        const event = this.find(name);
        if (event) resolve(event);
      };
      this.#waiting.add(read);
      read();
    });
    const early = this.ended.then(() => {
      throw new Error(`the process ended before ${name}: ${this.errors}`);
    });
    return Promise.race([seen, early]);
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }
}
