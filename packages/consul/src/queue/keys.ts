// Folder "queue": defines the keys of a queue, and decides which entries conflict.
// keys.ts (this file) builds the names of keys. entries.ts parses stored entries and finds the conflicting ones ahead.

import { checkQueueName } from '@queuelock/core/backend';

const MAX_NAME_BYTES = 4_096;
const ID = /^[0-9a-f]{32}$/;

/** Returns the names of keys. All names begin with the configured prefix. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Returns the prefix of all keys of entries in the queues whose names begin with this text. */
  queuesFrom(beginning: string): string {
    return `${this.#prefix}queues/${encodeName(beginning)}`;
  }

  /** Returns the prefix of the keys of a queue's entries. */
  queue(queue: string): string {
    return `${this.queuesFrom(queue)}/`;
  }

  entry(queue: string, id: string): string {
    return this.queue(queue) + id;
  }

  /**
   * Returns the name of the key that belongs to a session. The key exists as long as the session. Every write of the key makes earlier requests
   * invalid.
   */
  session(id: string): string {
    return `${this.#prefix}sessions/${id}`;
  }

  /** Returns the prefix of the keys of a queue's traces. */
  traces(queue: string): string {
    return `${this.#prefix}traces/${encodeName(queue)}/`;
  }

  register(queue: string, kind: string): string {
    return `${this.#prefix}registers/${encodeName(queue)}/${kind}`;
  }

  /** Parses an entry's key. Returns the name of the queue and the last part of the key, or `undefined` for other keys. */
  entryIn(key: string): { readonly queue: string; readonly id: string } | undefined {
    const start = this.queuesFrom('');
    const parts = key.startsWith(start) ? key.slice(start.length).split('/') : [];
    const [name = '', id = ''] = parts;
    if (parts.length !== 2 || name === '' || id === '') return undefined;
    return { queue: decodeName(name), id };
  }
}

/** Returns whether the last part of a key is an entry id that queuelock has made. */
export function isEntryId(id: string): boolean {
  return ID.test(id);
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` when the name of a queue is empty, too long, or not well-formed Unicode */
export function checkName(queue: string): void {
  checkQueueName(queue, MAX_NAME_BYTES);
}

/**
 * Encodes a name as one part of a key. Letters, digits and `_ . -` stay as they are. All other bytes, and a dot at the beginning, become `=` and two
 * hexadecimal digits. Consul's check of keys allows these characters, and so do URLs. If one name is the beginning of another, the same is true of their
 * encodings.
 */
function encodeName(name: string): string {
  return [...Buffer.from(name)]
    .map((byte, at) => {
      const character = String.fromCharCode(byte);
      const isPlain = /[\w.-]/.test(character) && !(at === 0 && character === '.');
      return isPlain ? character : `=${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}

function decodeName(text: string): string {
  return decodeURIComponent(text.replaceAll('%', '%25').replaceAll('=', '%'));
}
