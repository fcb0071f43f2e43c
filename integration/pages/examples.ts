import { Program, endPrograms } from './program.ts';
import { Scratch, blocksOf, type Stage } from './scratch.ts';

/** Writes the programs of EXAMPLES.md into files. */
export class Tasks {
  readonly #scratch = new Scratch();
  readonly file = this.#scratch.path('locks.db');

  /**
   * Writes a program of EXAMPLES.md into a file, and returns the file's path. `stage` maps texts of the
   * program to their replacements.
   */
  write(name: string, stage: Stage = {}): string {
    const block = blocksOf('EXAMPLES').find(({ file }) => file === name);
    if (!block) throw new Error(`the page has no ${name}`);
    return this.#scratch.write(block, { "'locks.db'": JSON.stringify(this.file), ...stage });
  }

  start(name: string, stage?: Stage): Program {
    return new Program(this.write(name, stage));
  }

  async end(): Promise<void> {
    await endPrograms();
    this.#scratch.remove();
  }
}
