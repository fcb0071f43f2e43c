import { removeInbox } from './inbox.ts';
import { hasEnded } from '../base/machine.ts';
import type { Peers } from './peers.ts';
import type { Home } from '../queue/sessions.ts';
import type { Store } from '../file/store.ts';

/** The number of checks after the socket of a process has closed, since the process exists for a moment longer. */
const MAX_CHECKS = 8;

/**
 * The other processes with entries at the front of this process's queues. When one of them ends, its sessions are ended at once. The
 * operating system closes its socket, which is the hint. It reports that the process no longer exists, which is the proof.
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

  /** Watches the processes at the front of these queues, and no others. */
  watch(queues: Iterable<string>): void {
    const { views, sessions } = this.#store;
    const nums = new Set([...queues].flatMap((queue) => views.sessionsAtFront(queue)));
    const homes = [...nums].flatMap((num) => sessions.home(num) ?? []);
    const others = homes.filter(({ inbox, namespace }) => inbox !== this.#own.inbox && namespace !== '');
    this.#watched = new Map(others.map((home) => [home.inbox, home]));
    this.#peers.watch(new Set(this.#watched.keys()));
    for (const home of others) if (hasEnded(home, this.#own)) this.#endSessions(home);
  }

  /** Checks a process whose inbox has closed, since it may have ended. */
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

  /** Ends the sessions that the process still has. A session that another process has resumed belongs to that process, so it continues. */
  #endSessions(home: Home): void {
    const { sessions } = this.#store;
    const ended = this.#store.write(() => {
      for (const num of sessions.at(home)) this.#store.end(num);
    });
    // The next check tries again, and the lease ends the sessions in any case.
    ended.then(
      () => removeInbox(this.#store.file.path, home.inbox),
      () => undefined,
    );
  }
}
