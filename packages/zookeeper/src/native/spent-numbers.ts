import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

const MOST = 8;

/**
 * Keeps socket numbers from being used again. The C client opens its sockets so that child processes inherit them (unless
 * it was compiled otherwise, see the README). When such a connection breaks while the child lives, the kernel goes on
 * reporting events of the old socket under its number, and whatever connects under that number next fails for ever.
 *
 * The first ones after a break are such numbers. What is spent later is mostly that of an attempt at a server that said nothing, so
 * from the eighth on each takes the place of the one before: the next attempt never has the same number again. They are not
 * given back before the end, since nothing tells whether the child still lives, and any socket of the process could get them.
 */
export class SpentNumbers {
  readonly #files: number[] = [];

  /** Takes the lowest number that is free: that of the socket which was closed just now. */
  spend(): void {
    const file = openSync(devNull, 'r');
    const before = this.#files.length < MOST ? undefined : this.#files.pop();
    this.#files.push(file);
    if (before !== undefined) closeSync(before);
  }

  release(): void {
    for (const file of this.#files.splice(0)) closeSync(file);
  }
}
