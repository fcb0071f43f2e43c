import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { pathToFileURL } from 'node:url';
import { format } from 'node:util';
import { fromSource } from '@queuelock/harness/services/script';
import { ROOT } from './scratch.ts';

const running = new Set<Program>();

/** Ends processes that a test left running. */
export async function endPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.end('SIGKILL')));
}

/** A program of a page, in a separate process. */
export class Program {
  output = '';
  stderr = '';
  readonly #child: ChildProcess;
  readonly #ended: Promise<[number | null, NodeJS.Signals | null]>;
  readonly #readers = new Set<() => void>();

  constructor(file: string) {
    // A CommonJS program uses the built packages, since their sources support only `import`. All other
    // programs use the sources.
    const execArgv = file.endsWith('.cjs') ? [] : [...fromSource(file).execArgv];
    this.#child = fork(file, [], { cwd: ROOT, silent: true, execArgv });
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.output += text;
      for (const read of this.#readers) read();
    });
    this.#ended = once(this.#child, 'close') as Promise<[number | null, NodeJS.Signals | null]>;
    running.add(this);
    void this.#ended.then(() => running.delete(this));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  /** Resolves when the program's output matches the pattern. Rejects when the program ends before. */
  async until(pattern: RegExp): Promise<void> {
    const matched = new Promise<void>((resolve) => {
      const read = (): void => {
        if (!pattern.test(this.output)) return;
        this.#readers.delete(read);
        resolve();
      };
      this.#readers.add(read);
      read();
    });
    const without = this.#ended.then(() => {
      if (!pattern.test(this.output)) throw new Error(`it ended with ${this.output}${this.stderr}`);
    });
    await Promise.race([matched, without]);
  }

  /**
   * Sends the signal to the program, if one is given. Resolves when the program has ended, with how it ended.
   */
  async end(signal?: NodeJS.Signals): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    if (signal) this.#child.kill(signal);
    const [code, by] = await this.#ended;
    return { code, signal: by };
  }
}

/** Runs a program to its end in this process. Resolves with its output. Output on stderr is an error. */
export async function runHere(file: string): Promise<string> {
  const { log, error } = console;
  const printed: string[] = [];
  const wrong: string[] = [];
  console.log = (...what: unknown[]) => void printed.push(format(...what));
  console.error = (...what: unknown[]) => void wrong.push(format(...what));
  try {
    await import(pathToFileURL(file).href);
  } finally {
    console.log = log;
    console.error = error;
  }
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return printed.map((line) => `${line}\n`).join('');
}
