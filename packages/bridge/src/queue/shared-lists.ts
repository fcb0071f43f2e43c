import type { Clock } from '@queuelock/core';
import { coversQueue } from '../authorization.ts';
import { ListView } from './list-view.ts';
import { SharedList, type ListTools } from './shared-list.ts';

/** The parts of a bridge that `SharedLists` uses. */
export interface SharedListsTools extends ListTools {
  readonly clock: Clock;
}

interface Open {
  readonly list: SharedList;
  viewers: number;
  /** Cancels the timer after which the list is no longer read from the store. */
  cancel: () => void;
}

// Time in milliseconds for which a list that no topic uses is kept: a page that renders anew closes its lists
// and opens them again.
const LINGER_MS = 1_000;

/**
 * The lists that are read from the store. An open list with the prefix `a` also serves a page that requests
 * the longer prefix `ab`.
 */
export class SharedLists {
  readonly #tools: SharedListsTools;
  readonly #open = new Map<string, Open>();

  constructor(tools: SharedListsTools) {
    this.#tools = tools;
  }

  /**
   * Returns a view of the queues whose names begin with a prefix. Their list is read from the store until
   * `close` of the view is called.
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a store that cannot list queues.
   */
  view(prefix: string): ListView {
    const open = this.#covering(prefix) ?? this.#begin(prefix);
    open.viewers += 1;
    open.cancel();
    return new ListView(prefix, open.list, () => {
      open.viewers -= 1;
      if (open.viewers === 0) this.#linger(open);
    });
  }

  close(): void {
    for (const open of this.#open.values()) this.#end(open);
  }

  #covering(prefix: string): Open | undefined {
    return [...this.#open.values()].find(({ list }) => coversQueue(list.prefix, prefix));
  }

  #begin(prefix: string): Open {
    const open = { list: new SharedList(prefix, this.#tools), viewers: 0, cancel: () => undefined };
    this.#open.set(prefix, open);
    return open;
  }

  #linger(open: Open): void {
    open.cancel = this.#tools.clock.after(LINGER_MS, () => this.#end(open));
  }

  #end({ list, cancel }: Open): void {
    cancel();
    list.close();
    this.#open.delete(list.prefix);
  }
}
