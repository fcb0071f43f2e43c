import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';

const MAX_RESERVED = 8;

/**
 * Keeps socket numbers from being reused. The C client opens its sockets so that child processes inherit them, unless it was compiled
 * otherwise (see the README). When such a connection breaks while the child lives, the kernel keeps reporting events of the old socket
 * under its number. Every later connection with that number then fails for ever.
 *
 * The numbers of the session's first seven closed sockets are reserved until the session has ended. Sockets that are closed later mostly
 * belong to attempts at a silent server. Of their numbers, only the latest is reserved, so that the next attempt gets another number. All
 * other reserved numbers stay reserved until the session has ended: it is unknown whether the child process still lives, and any socket of
 * this process could get such a number.
 */
export class ReservedSockets {
  readonly #files: number[] = [];

  /** Opens a file, which then occupies the lowest free number: that of the socket that was closed just now. */
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
