import { isQueueLockError, type LockClient } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';
import type {
  CampaignOptions,
  CandidatesState,
  Election,
  ElectionOptions,
  LeaderState,
  Leadership,
  LeadOptions,
} from './election-api.ts';
import { leadUntilAborted, type LeaderWork } from './election-lead.ts';
import { presenceOf } from './election-presence.ts';
import { elected, type Stand } from './election-term.ts';
import { candidatesIn, leaderIn } from './election-view.ts';
import { distinctUntilChanged, map, type Observable } from './rx.ts';

/**
 * Leader election: candidates stand in the queue of that name, and the one that holds it leads. The queue is that of a lock: whoever
 * locks the same name is a candidate too. Entries store the candidate's value and nothing else, so that on etcd Go's `Election`,
 * `etcdctl elect` and v3election stand in the same line and observe the same leaders; on ZooKeeper they have the form of Curator's `LeaderSelector`.
 * A leader whose session is lost is none at that moment, before anybody is told, and before the server lets the next one lead.
 *
 * Not promised: that nobody acts as a leader any more when another one begins. A process that is paused notices nothing; send
 * `Leadership.token` with every write.
 *
 * After etcd's `concurrency.Election` (Campaign, Proclaim, Observe, Resign, ResumeElection) and Curator's `LeaderSelector`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name or a value that cannot be stored.
 */
export function election(client: LockClient, name: string, options: ElectionOptions): Election {
  const { value, id } = options;
  if (typeof value !== 'string') throw invalidArgument('value', value, 'is a string');
  if (id !== undefined && !/^[0-9a-f]{32}$/.test(id))
    throw invalidArgument('id', id, 'is the id of a leadership, 32 hexadecimal digits');
  // Checks name and value; nothing happens before somebody subscribes.
  void client.claim(name, { value });
  return new QueueElection(client, name, { value, ...(id === undefined ? {} : { id }) });
}

class QueueElection implements Election {
  readonly name: string;
  readonly leadership$: Observable<Leadership | undefined>;
  readonly isLeader$: Observable<boolean>;
  readonly leader$: Observable<LeaderState>;
  readonly candidates$: Observable<CandidatesState>;
  readonly #client: LockClient;
  readonly #value: string;
  /** Of the entry to go on with; for the first who stands. */
  #id: string | undefined;

  constructor(client: LockClient, name: string, { value, id }: Stand) {
    this.name = name;
    this.#client = client;
    this.#value = value;
    this.#id = id;
    this.leadership$ = presenceOf(client, name, () => this.#stand());
    this.isLeader$ = this.leadership$.pipe(
      map((leadership) => leadership !== undefined),
      distinctUntilChanged(),
    );
    this.leader$ = leaderIn(client.watch(name));
    this.candidates$ = candidatesIn(client.watch(name));
  }

  async campaign(options: CampaignOptions = {}): Promise<Leadership> {
    const stand = this.#stand();
    try {
      return await this.#stood(stand, options);
    } catch (error) {
      // The entry to go on with has been removed.
      if (stand.id === undefined || !isQueueLockError(error, 'ENTRY_LOST')) throw error;
      return this.#stood(this.#stand(), options);
    }
  }

  async lead(work: LeaderWork, options: LeadOptions): Promise<void> {
    const { signal } = options;
    if (!(signal instanceof AbortSignal))
      throw invalidArgument('signal', signal, 'is an AbortSignal: nothing else ends the leading');
    const ballot = { client: this.#client, name: this.name, stand: () => this.#stand() };
    await leadUntilAborted(ballot, work, options);
  }

  async #stood(stand: Stand, { signal, timeoutMs, needsMs }: CampaignOptions): Promise<Leadership> {
    const ownership = await this.#client.acquire(this.name, {
      ...stand,
      ...(signal && { signal }),
      ...(timeoutMs !== undefined && { timeoutMs }),
      ...(needsMs !== undefined && { needsMs }),
    });
    try {
      return await elected(ownership, stand);
    } catch (error) {
      await ownership.release();
      throw error;
    }
  }

  #stand(): Stand {
    const id = this.#id;
    this.#id = undefined;
    return { value: this.#value, ...(id === undefined ? {} : { id }) };
  }
}
