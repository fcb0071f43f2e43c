// Whoever stands right behind an owner of its own session takes over when that leaves, before the store knows. Nobody can come between
// them, and until it is taken out the one that leaves stands for the other as well, since it is only taken out where that one is there:
// so nobody else's turn comes any sooner than if the first had held until then.
import type { Entry } from '../entry/entry.ts';
import { MAX_LEAVERS, isPlain } from '../entry/leaving.ts';
import type { Generation } from '../entry/generation.ts';
import type { Connection } from '../server/connection.ts';
import { lifeIn } from './owning.ts';

/** Who takes over from the one right ahead of it. */
export interface Successor {
  readonly entry: Entry;
  /** The one ahead leaves after its hold; with the revision that the next grant is told, and whether that may begin at once. */
  readonly notify: (at: bigint, now: boolean) => void;
}

/**
 * No hand-over begins while the oldest removal has been unanswered for this long, in milliseconds. It bounds how long a process that the store
 * cannot reach goes on to begin holds in a queue that was taken from it. PROMISES states the number.
 */
const MAX_UNCONFIRMED_MS = 100;

/** What is known of the store and of the session. */
interface HeirsSettings {
  readonly connection: Pick<Connection, 'revision'>;
  readonly generation: Pick<Generation, 'isExported'>;
}

/** Those of one session that stand right behind another entry of it. */
export class Successors {
  /** By the life of the one ahead. */
  readonly #behind = new Map<string, Successor>();
  /** When each handed over, in the order in which they did. */
  readonly #unconfirmed = new Map<Entry, number>();
  readonly #connection: Pick<Connection, 'revision'>;
  readonly #generation: Pick<Generation, 'isExported'>;

  constructor({ connection, generation }: HeirsSettings) {
    this.#connection = connection;
    this.#generation = generation;
  }

  /** Answers what ends this. */
  stand(life: string, successor: Successor): () => void {
    this.#behind.set(life, successor);
    return () => {
      if (this.#behind.get(life) === successor) this.#behind.delete(life);
    };
  }

  /** As `Session.exposeKey`: `false` where it has handed over and its removal is not confirmed. */
  exposeKey(entry: Entry): boolean {
    if (this.#unconfirmed.has(entry)) return false;
    entry.isKeyExposed = true;
    return true;
  }

  /**
   * Called before anything is sent that takes the entry out, once those who wait for it were told of it. Each grant is told a larger
   * revision than the one before it, and none that the store has not had: where no such revision is known, nothing is handed over.
   */
  handOver(entry: Entry): void {
    // A process that resumes the session waits for entries ahead by what the store has, and knows of none that was replaced here.
    if (this.#generation.isExported || !entry.followed || !isPlain(entry)) return;
    // A transaction that compares the key succeeds until the removal commits, so the next hold begins after that.
    if (entry.isKeyExposed || entry.gone || entry.grantToken === undefined) return;
    const successor = this.#behind.get(lifeIn(entry) ?? '');
    if (!successor) return;
    const { order = 0n } = successor.entry;
    const at = order > entry.grantToken ? order : entry.grantToken + 1n;
    if (at > this.#connection.revision) return;
    // The store is never further behind than by one transaction, and whoever hands over and over lets others run meanwhile.
    const now = this.#unconfirmed.size < MAX_LEAVERS && !this.#isLate();
    if (now) {
      this.#unconfirmed.set(entry, performance.now());
      entry.successor = successor.entry;
    }
    successor.notify(at, now);
  }

  /** The entry is out. */
  confirm(entry: Entry): void {
    this.#unconfirmed.delete(entry);
  }

  #isLate(): boolean {
    const [oldest = Infinity] = this.#unconfirmed.values();
    return performance.now() - oldest > MAX_UNCONFIRMED_MS;
  }
}
