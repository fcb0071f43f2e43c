import { invalidArgument } from '@queuelock/core/backend';

/** The two queues of a lock. */
export interface QueuesOfName {
  /** Queue of the requests that wait, in the order in which they were made. */
  readonly line: string;
  /** Queue of the requests that hold the lock, and of the request that will hold it next. */
  readonly hold: string;
}

// Longest name of a queue that every store accepts.
const MAX_BYTES = 512;
const UNIT_DIGITS = 4;

/** Maps the names of the locks of one scope to names of queues. */
export class Names {
  readonly #scope: string;

  constructor(scope: string) {
    this.#scope = scope;
  }

  /** Prefix of the names of all queues of the scope. */
  get prefix(): string {
    return `${this.#scope}/`;
  }

  /**
   * Returns the queues of a lock.
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a name that is too long
   */
  queuesOf(name: string): QueuesOfName {
    const part = encode(name);
    const queues = { line: `${this.prefix}line/${part}`, hold: `${this.prefix}hold/${part}` };
    const tooMuch = Buffer.byteLength(queues.line) - MAX_BYTES;
    if (tooMuch <= 0) return queues;
    throw invalidArgument(
      'name',
      name,
      `is shorter by at least ${String(tooMuch)} bytes, since it is stored with its scope`,
    );
  }

  /** Returns the name of the lock to which a queue belongs, or `undefined` if the queue does not belong to this scope. */
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
 * Encodes the name of a lock. Printable ASCII stays as it is, except `=` and `/`. Every other UTF-16 code unit becomes `=` and four hexadecimal
 * digits, and the empty name becomes `=`. A name may be any sequence of code units, also one that is not valid text. Different names have different
 * encodings.
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
