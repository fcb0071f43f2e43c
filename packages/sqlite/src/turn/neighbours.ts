import { removeInbox } from './inbox.ts';
import { hasEnded } from '../base/machine.ts';
import type { Peers } from './peers.ts';
import type { Home } from '../queue/sessions.ts';
import type { Store } from '../file/store.ts';

/** How many times a process is checked after its socket was closed. Its pid disappears a moment later than the socket. */
const MAX_CHECKS = 8;

/**
 * Watches the other processes with entries at the front of queues in which this process waits. When such a process ends, its sessions are
 * ended at once instead of at their TTL. A closed socket is the hint that the process may have ended. The proof is that its pid no longer
 * exists.
 */
export class Neighbours {
  readonly #store: Store;
  readonly #own: Home;
  readonly #peers: Peers;
  readonly #timers = new Set<NodeJS.Timeout>();
  #watched = new Map<string, Home>();

  constructor(store: Store, own: Home, peers: Peers) {
    this.#store = store;
    this.#own = own;
    this.#peers = peers;
  }

  /**
   * Watches the processes with entries at the front of the given queues from now on, and no other processes.
   */
  watch(queues: Iterable<string>): void {
    const { views, sessions } = this.#store;
    const nums = new Set([...queues].flatMap((queue) => views.sessionsAtFront(queue)));
    const homes = [...nums].flatMap((num) => sessions.home(num) ?? []);
    const others = homes.filter(({ inbox, namespace }) => inbox !== this.#own.inbox && namespace !== '');
    this.#watched = new Map(others.map((home) => [home.inbox, home]));
    this.#peers.watch(new Set(this.#watched.keys()));
    for (const home of others) if (hasEnded(home, this.#own)) this.#endSessions(home);
  }

  /** Checks whether a process has ended. Called because its inbox was closed. */
  suspect(inbox: string): void {
    const home = this.#watched.get(inbox);
    if (home) this.#check(home, 0);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  #check(home: Home, checks: number): void {
    if (hasEnded(home, this.#own)) this.#endSessions(home);
    else if (checks < MAX_CHECKS) {
      const timer = setTimeout(() => {
        this.#timers.delete(timer);
        this.#check(home, checks + 1);
      }, 2 ** checks);
      this.#timers.add(timer);
    }
  }

  /** Ends the sessions of a process that has ended. A session continues if another process has resumed it. */
  #endSessions(home: Home): void {
    const { sessions } = this.#store;
    const ended = this.#store.write(() => {
      for (const num of sessions.at(home)) this.#store.end(num);
    });
    // If the step that ends the sessions fails, the next check repeats it, or the lease of each session
    // expires.
    ended.then(
      () => removeInbox(this.#store.file.path, home.inbox),
      () => undefined,
    );
  }
}
