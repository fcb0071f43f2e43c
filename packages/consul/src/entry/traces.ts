import { entryLost, type HoldTraces } from '@queuelock/core/backend';
import { MAX_OPERATIONS } from '../driver/requests.ts';
import type { Keys } from '../queue/keys.ts';
import type { Connection } from '../server/connection.ts';
import type { SessionKey } from '../server/session-key.ts';

/** The objects that are needed to write and delete traces. */
export interface TraceTools {
  readonly connection: Connection;
  readonly keys: Keys;
  readonly session: string;
  readonly sessionKey: SessionKey;
}

/**
 * Stores the traces of holds, each as one key with the id of the entry in its name; see `HoldTraces`. These
 * keys belong to no session, so they outlive the session.
 */
export class Traces implements HoldTraces {
  readonly #tools: TraceTools;

  constructor(tools: TraceTools) {
    this.#tools = tools;
  }

  async leave(queue: string, id: string): Promise<readonly string[]> {
    const { keys, session, sessionKey } = this.#tools;
    const [traces, entries] = [keys.traces(queue), keys.queue(queue)];
    const result = await sessionKey.txn([
      { verb: 'check-session', key: keys.entry(queue, id), session },
      { verb: 'set', key: traces + id, text: '' },
      { verb: 'get-tree', key: traces },
      { verb: 'get-tree', key: entries },
    ]);
    if (!result.isDone) throw entryLost(id);
    const found = result.pairs.map(({ key }) => key);
    const left = found.filter((key) => key.startsWith(traces)).map((key) => key.slice(traces.length));
    return [...new Set(left)].filter((other) => !found.includes(entries + other)).toSorted();
  }

  async erase(queue: string, traces: readonly string[]): Promise<void> {
    const directory = this.#tools.keys.traces(queue);
    for (let from = 0; from < traces.length; from += MAX_OPERATIONS) {
      const batch = traces.slice(from, from + MAX_OPERATIONS);
      await this.#tools.connection.txn(batch.map((trace) => ({ verb: 'delete', key: directory + trace })));
    }
  }
}
