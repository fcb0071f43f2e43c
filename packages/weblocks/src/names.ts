import { invalidArgument } from '@queuelock/core/backend';

/** The two queues of a lock. */
export interface QueuesOfName {
  /** In which requests stand in the order in which they were made, until they are granted. */
  readonly line: string;
  /** In which those are that hold the lock, and whoever is next. */
  readonly hold: string;
}

// What a queue's name may have on every store.
const MAX_BYTES = 512;
const UNIT_DIGITS = 4;

/** The queues of one scope, by the names of its locks. */
export class Names {
  readonly #scope: string;

  constructor(scope: string) {
    this.#scope = scope;
  }

  /** With which the names of all queues of the scope begin. */
  get prefix(): string {
    return `${this.#scope}/`;
  }

  /** @throws {QueueLockError} `INVALID_ARGUMENT` for a name that is too long. */
  queuesOf(name: string): QueuesOfName {
    const part = encode(name);
    const queues = { line: `${this.prefix}line/${part}`, hold: `${this.prefix}hold/${part}` };
    const tooMuch = Buffer.byteLength(queues.line) - MAX_BYTES;
    if (tooMuch <= 0) return queues;
    throw invalidArgument(
      'name',
      name,
      `takes ${String(tooMuch)} bytes less, as it is stored with its scope`,
    );
  }

  /** The lock that a queue belongs to; `undefined` for a queue that is none of this scope's. */
  nameOf(queue: string): string | undefined {
    const [kind, part, ...rest] = queue.startsWith(this.prefix)
      ? queue.slice(this.prefix.length).split('/')
      : [];
    if ((kind !== 'line' && kind !== 'hold') || part === undefined || rest.length > 0) return undefined;
    const name = decode(part);
    return encode(name) === part ? name : undefined;
  }
}

/**
 * Printable ASCII as it is, every other UTF-16 code unit as `=` and four hexadecimal digits; the empty name as `=`. Names are any
 * sequence of units, also one that is no text, and no two share a form.
 */
export function encode(name: string): string {
  if (name === '') return '=';
  return name.replace(/[^\x21-\x7e]|[=/]/g, (unit) => `=${hexOf(unit)}`);
}

function hexOf(unit: string): string {
  return unit.charCodeAt(0).toString(16).padStart(UNIT_DIGITS, '0');
}

function decode(part: string): string {
  if (part === '=') return '';
  return part.replace(/=([0-9a-f]{4})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
}
