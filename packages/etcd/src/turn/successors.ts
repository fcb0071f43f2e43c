// An entry right behind an owner of its own session takes over when the owner releases, before the store has executed the removal. No other entry can
// come between the two. Until the first entry is removed, it counts for both, since its removal requires that the second one exists. So no other
// client is admitted earlier than if the first had held until then.
import type { Entry } from '../entry/entry.ts';
import { MAX_REMOVALS, isPlain } from '../entry/leaving.ts';
import type { Generation } from '../entry/generation.ts';
import type { Connection } from '../server/connection.ts';
import { creationIdOf } from '../entry/creation-id.ts';

/** The entry that takes over from its predecessor in the same session. */
export interface Successor {
  readonly entry: Entry;
  /**
   * Called when the predecessor is released. `at` is the token of the next grant, and `now` is whether the grant may begin before the removal is
   * confirmed.
   */
  readonly notify: (at: bigint, now: boolean) => void;
}

/**
 * No hand-over begins while the oldest removal has had no response for this long, in milliseconds. So a process that cannot reach the store begins no
 * new holds for longer than this in a queue that other clients have taken over. PROMISES states the number.
 */
const MAX_UNCONFIRMED_MS = 100;

/** The state of the store and of the session. */
interface SuccessorsOptions {
  readonly connection: Pick<Connection, 'revision'>;
  readonly generation: Pick<Generation, 'isExported'>;
}

/** The entries of one session whose predecessors belong to the same session. */
export class Successors {
  /** The successors, by the identity of their predecessors. */
  readonly #behind = new Map<string, Successor>();
  /** The time of each hand-over whose removal is not confirmed, in the order of the hand-overs. */
  readonly #unconfirmed = new Map<Entry, number>();
  readonly #connection: Pick<Connection, 'revision'>;
  readonly #generation: Pick<Generation, 'isExported'>;

  constructor({ connection, generation }: SuccessorsOptions) {
    this.#connection = connection;
    this.#generation = generation;
  }

  /** Registers a successor. Returns a function that removes it. */
  register(creation: string, successor: Successor): () => void {
    this.#behind.set(creation, successor);
    return () => {
      if (this.#behind.get(creation) === successor) this.#behind.delete(creation);
    };
  }

  /** Implements `Session.exposeKey`: returns `false` if the entry has handed over and its removal is not confirmed. */
  exposeKey(entry: Entry): boolean {
    if (this.#unconfirmed.has(entry)) return false;
    entry.isKeyExposed = true;
    return true;
  }

  /**
   * Hands over to the successor, if there is one. It must be called before the removal is sent, and after the waiters were notified. Each grant
   * gets a larger revision than the one before, and none that the store has not reached. If no such revision is known, there is no hand-over.
   */
  handOver(entry: Entry): void {
    // A process that resumes the session waits for the entries that the store has, and knows of no take-over in this process.
    if (this.#generation.isExported || !entry.followed || !isPlain(entry)) return;
    // A transaction that compares the key succeeds until the removal commits, so the next hold begins after that.
    if (entry.isKeyExposed || entry.gone || entry.grantToken === undefined) return;
    const successor = this.#behind.get(creationIdOf(entry) ?? '');
    if (!successor) return;
    const { order = 0n } = successor.entry;
    const at = order > entry.grantToken ? order : entry.grantToken + 1n;
    if (at > this.#connection.revision) return;
    // The removals of all unconfirmed hand-overs fit into one transaction. The limit also lets other tasks run between many hand-overs.
    const now = this.#unconfirmed.size < MAX_REMOVALS && !this.#isLate();
    if (now) {
      this.#unconfirmed.set(entry, performance.now());
      entry.successor = successor.entry;
    }
    successor.notify(at, now);
  }

  /** Records that the removal of the entry is confirmed. */
  confirm(entry: Entry): void {
    this.#unconfirmed.delete(entry);
  }

  #isLate(): boolean {
    const [oldest = Infinity] = this.#unconfirmed.values();
    return performance.now() - oldest > MAX_UNCONFIRMED_MS;
  }
}
