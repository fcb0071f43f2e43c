// If the next entry in the queue belongs to the same session, it takes over as soon as the holder releases. It
// does not wait until etcd has removed the holder's entry. No other entry can come between these entries. The
// removal requires that the next entry exists, so one of them is always stored. So no other client is admitted
// earlier than without the hand-over.
import type { Entry } from '../entry/entry.ts';
import { MAX_REMOVALS, isPlain } from '../entry/leaving.ts';
import type { Generation } from '../entry/generation.ts';
import type { Connection } from '../server/connection.ts';
import { creationIdOf } from '../entry/creation-id.ts';

/** The entry that takes over from its predecessor in the same session. */
export interface Successor {
  readonly entry: Entry;
  /**
   * Grants the lock to this entry when its predecessor is released. `at` is the fencing token of the grant. `now` states whether the hold may begin
   * before the server has confirmed the predecessor's removal.
   */
  notify(at: bigint, now: boolean): void;
}

/**
 * Longest time in milliseconds for which a removal may be without a response before hand-overs stop. So a process without a connection begins no new
 * holds after 100 ms, when other clients may hold the lock. The page PROMISES states this number.
 */
const MAX_UNCONFIRMED_MS = 100;

/** The parts of the session on which hand-overs depend: the newest known revision, and whether the session was exported. */
interface SuccessorsOptions {
  readonly connection: Pick<Connection, 'revision'>;
  readonly generation: Pick<Generation, 'isExported'>;
}

/** The entries of one session that wait directly behind another entry of that session. */
export class Successors {
  /** The entry that takes over from each predecessor, by the predecessor's key and create revision. */
  readonly #behind = new Map<string, Successor>();
  /**
   * The start time of each hand-over for which the server has not confirmed the removal of the old entry, the
   * oldest first.
   */
  readonly #unconfirmed = new Map<Entry, number>();
  readonly #connection: Pick<Connection, 'revision'>;
  readonly #generation: Pick<Generation, 'isExported'>;

  constructor({ connection, generation }: SuccessorsOptions) {
    this.#connection = connection;
    this.#generation = generation;
  }

  /** Registers the entry that takes over from another entry, until `unregister` is called. */
  register(creation: string, successor: Successor): void {
    this.#behind.set(creation, successor);
  }

  /** Unregisters the successor of an entry. Does nothing if another successor is registered, or none. */
  unregister(creation: string, successor: Successor): void {
    if (this.#behind.get(creation) === successor) this.#behind.delete(creation);
  }

  /**
   * Prepares the entry's key for transactions of the caller; see `Session.exposeKey`. Returns `false` while the entry has handed its hold over to a
   * successor and its own removal is not confirmed.
   */
  exposeKey(entry: Entry): boolean {
    if (this.#unconfirmed.has(entry)) return false;
    entry.isKeyExposed = true;
    return true;
  }

  /**
   * Hands the hold of the entry over to its successor, if there is one. It must be called before the removal is sent, and after waiters were
   * notified. Each grant gets a larger token than the one before. A token is a revision of the store. If the store may not have reached that revision
   * yet, there is no hand-over.
   */
  handOver(entry: Entry): void {
    // Hands nothing over after an export. The process that resumes the session reads only the store, which does not contain the hand-overs of this
    // process.
    if (this.#generation.isExported || !entry.followed || !isPlain(entry)) return;
    // Hands nothing over if the caller has read the entry's key. The caller may compare the key in its own transactions, which succeed until the
    // removal of the entry commits, so the next hold must begin after that.
    if (entry.isKeyExposed || entry.gone || entry.grantToken === undefined) return;
    const successor = this.#behind.get(creationIdOf(entry) ?? '');
    if (!successor) return;
    const { order = 0n } = successor.entry;
    const at = order > entry.grantToken ? order : entry.grantToken + 1n;
    if (at > this.#connection.revision) return;
    // At most `MAX_REMOVALS` hand-overs wait for the confirmation of their removals, so that all these removals fit into one transaction. The limit
    // also lets other tasks of this process run between many hand-overs.
    const now = this.#unconfirmed.size < MAX_REMOVALS && !this.#isLate();
    if (now) {
      this.#unconfirmed.set(entry, performance.now());
      entry.successor = successor.entry;
    }
    successor.notify(at, now);
  }

  /** Records that the server has confirmed the removal of an entry that has handed its hold over. */
  confirm(entry: Entry): void {
    this.#unconfirmed.delete(entry);
  }

  #isLate(): boolean {
    const [oldest = Infinity] = this.#unconfirmed.values();
    return performance.now() - oldest > MAX_UNCONFIRMED_MS;
  }
}
