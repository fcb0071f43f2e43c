// The folder queue answers: under which keys is a queue stored, and which entries conflict?
// Names of keys (this file), entries as stored and their order (entries.ts).

import { checkQueueName } from '@queuelock/core/backend';

const MAX_NAME_BYTES = 4_096;
const ID = /^[0-9a-f]{32}$/;

/** Names of keys. All begin with the prefix. */
export class Keys {
  readonly #prefix: string;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** Returns the beginning of the keys of all entries of all queues whose names begin with this text. */
  queuesFrom(beginning: string): string {
    return `${this.#prefix}queues/${encodeName(beginning)}`;
  }

  /** Returns the beginning of the keys of a queue's entries. */
  queue(queue: string): string {
    return `${this.queuesFrom(queue)}/`;
  }

  entry(queue: string, id: string): string {
    return this.queue(queue) + id;
  }

  /** Returns the key that belongs to one session. It exists as long as the session, and its index changes when earlier requests become invalid. */
  session(id: string): string {
    return `${this.#prefix}sessions/${id}`;
  }

  /** Returns the beginning of the keys of a queue's traces. */
  traces(queue: string): string {
    return `${this.#prefix}traces/${encodeName(queue)}/`;
  }

  register(queue: string, kind: string): string {
    return `${this.#prefix}registers/${encodeName(queue)}/${kind}`;
  }

  /** Returns the queue and the last part of an entry's key, or `undefined` for other keys. */
  entryIn(key: string): { readonly queue: string; readonly id: string } | undefined {
    const start = this.queuesFrom('');
    const parts = key.startsWith(start) ? key.slice(start.length).split('/') : [];
    const [name = '', id = ''] = parts;
    if (parts.length !== 2 || name === '' || id === '') return undefined;
    return { queue: decodeName(name), id };
  }
}

/** Returns whether the last part of an entry's key is an id of queuelock. */
export function isEntryId(id: string): boolean {
  return ID.test(id);
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` when the name of a queue is empty, too long, or not well-formed Unicode */
export function checkName(queue: string): void {
  checkQueueName(queue, MAX_NAME_BYTES);
}

/**
 * Encodes a name as one part of a key: letters, digits and `_ . -` as they are, all other bytes, and a dot at the beginning, as `=` and two
 * hexadecimal digits. These characters are allowed in a URL and by Consul's check of keys. The encoding of a name's beginning is the beginning of
 * its encoding.
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
