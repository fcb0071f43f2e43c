// Chapter queue: under which names is it stored, and which steps are there?
// Names of keys and channels (here); all steps (scripts); an entry as the store has it (found).

import { invalidArgument } from '@queuelock/core/backend';

/** The names of what is stored and of what is published, below a prefix in braces: all in one hash slot of a cluster. */
export class Keys {
  /** What they all begin with. */
  readonly root: string;

  constructor(prefix: string) {
    this.root = `{${prefix}}:`;
  }

  /** What every script is told: the others follow from it. */
  get meta(): string {
    return `${this.root}meta`;
  }

  /**
   * A key that never exists. Every script names it beside `meta`, though it uses neither alone: a node of a cluster that migrates the slot
   * refuses a script with a missing key as a whole. With `meta` alone it would run, and fail in its middle at the first key that has moved.
   */
  get absent(): string {
    return `${this.root}absent`;
  }

  /** The channel on which something is said when any queue has changed. */
  get queues(): string {
    return `${this.root}queues`;
  }

  /** The channel that operators speak on: everybody looks. */
  get everybody(): string {
    return `${this.root}look`;
  }

  inbox(id: string): string {
    return `${this.root}inbox:${id}`;
  }

  queue(queue: string): string {
    return `${this.root}queue:${queue}`;
  }

  register(queue: string): string {
    return `${this.root}register:${queue}`;
  }

  /** An entry, for people and tools: a member of that sorted set. */
  entry(queue: string, order: string): string {
    return `${this.root}line:${queue}/${order}`;
  }

  /** The order that is part of such a key; `undefined` for the key of another queue. */
  orderIn(queue: string, key: string): string | undefined {
    const start = this.entry(queue, '');
    const order = key.slice(start.length);
    return key.startsWith(start) && /^\d+$/.test(order) ? order : undefined;
  }
}

/** @throws {QueueLockError} `INVALID_ARGUMENT` */
export function checkName(queue: string): void {
  if (typeof queue !== 'string' || queue === '')
    throw invalidArgument('queue', queue, 'is a string with at least one character');
  if (/\p{Surrogate}/u.test(queue)) throw invalidArgument('queue', queue, 'is well-formed Unicode');
}
