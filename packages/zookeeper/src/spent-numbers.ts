import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

const MOST = 8;

/**
 * Keeps socket numbers from being used again. The C client opens its sockets so that child processes inherit them (unless
 * it was compiled otherwise, see the README). When such a connection breaks while the child lives, the kernel goes on
 * reporting events of the old socket under its number, and whatever connects under that number next fails for ever.
 */
export class SpentNumbers {
  readonly #files: number[] = [];

  /** Takes the lowest number that is free: that of the socket which was closed just now. */
  spend(): void {
    if (this.#files.length < MOST) this.#files.push(openSync(devNull, 'r'));
  }

  release(): void {
    for (const file of this.#files.splice(0)) closeSync(file);
  }
}
