// Folder "queue": lists the keys of a queue, and the steps that change them.
// keys.ts (this file) builds the names of keys and channels. scripts.ts lists all steps. found.ts parses stored entries.

/** Names of keys and channels. All begin with the prefix in braces, so a cluster stores them in one hash slot. */
export class Keys {
  /** The beginning of the names of all keys and channels. */
  readonly root: string;

  constructor(prefix: string) {
    this.root = `{${prefix}}:`;
  }

  /**
   * Name of the key `meta`, which every script gets as its first key. The script derives the names of all
   * other keys from it.
   */
  get meta(): string {
    return `${this.root}meta`;
  }

  /**
   * Name of a key that never exists. Every script declares it beside the key `meta`. While a node of a
   * cluster migrates the hash slot, it refuses any script that declares a missing key, before the script
   * starts. Without it, the script would start and fail in its middle at the first key that has moved.
   */
  get absent(): string {
    return `${this.root}absent`;
  }

  /** The channel that receives a message when any queue has changed. */
  get queues(): string {
    return `${this.root}queues`;
  }

  /** A channel for operators: on any message, all clients read their entries again. */
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

  /**
   * Returns the key of an entry, as queuelock's API shows it: the name of the queue's sorted set, and the
   * entry's number there.
   */
  entry(queue: string, order: string): string {
    return `${this.root}line:${queue}/${order}`;
  }

  /**
   * Returns the order number in an entry's public key, or `undefined` when the key belongs to another queue.
   */
  orderIn(queue: string, key: string): string | undefined {
    const start = this.entry(queue, '');
    const order = key.slice(start.length);
    return key.startsWith(start) && /^\d+$/.test(order) ? order : undefined;
  }
}
