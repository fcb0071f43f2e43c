import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

const MAX_RESERVED = 8;

/**
 * Keeps socket numbers from being reused. The C client opens its sockets so that child processes inherit them, unless it was compiled
 * otherwise (see the README). When such a connection breaks while the child lives, the kernel keeps reporting events of the old socket
 * under its number. Every later connection with that number then fails for ever.
 *
 * The first numbers after a break are such numbers. Later ones mostly belong to attempts at a silent server. So from the eighth on, each
 * replaces the one before: the next attempt never gets the same number again. They are released only at the end, since it is unknown
 * whether the child still lives, and any socket of the process could get them.
 */
export class ReservedSockets {
  readonly #files: number[] = [];

  /** Occupies the lowest free socket number, which is the number of the socket that was closed just now. */
  reserve(): void {
    const file = openSync(devNull, 'r');
    const before = this.#files.length < MAX_RESERVED ? undefined : this.#files.pop();
    this.#files.push(file);
    if (before !== undefined) closeSync(before);
  }

  release(): void {
    for (const file of this.#files.splice(0)) closeSync(file);
  }
}
