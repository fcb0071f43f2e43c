import { isQueueLockError, type LockClient } from '@queuelock/core';
import {
  checkWorkOptions,
  checkedOptions,
  inCallerContext,
  invalidArgument,
  type KnownOptions,
} from '@queuelock/core/backend';
import { machineClock } from './clock.ts';
import type {
  CampaignOptions,
  CandidatesState,
  Election,
  ElectionOptions,
  ElectionErrorEvent,
  LeaderState,
  Leadership,
  LeadOptions,
} from './election-api.ts';
import { Ballot, type Stand } from './election-ballot.ts';
import { leadUntilAborted, type LeaderWork } from './election-lead.ts';
import { Office } from './election-office.ts';
import { presenceOf } from './election-presence.ts';
import { ElectionErrors } from './election-errors.ts';
import { candidatesIn, leaderIn } from './election-view.ts';
import type { Observable } from './rx.ts';

/**
 * Returns an election: candidates wait in the queue of that name, and the holder leads. It is the queue of a lock, so a client that locks
 * the same name is a candidate too. Entries store only the candidate's value. So on etcd, Go's `Election`, `etcdctl elect` and v3election
 * wait in the same queue and observe the same leaders. On ZooKeeper the entries have the form of Curator's `LeaderSelector`. A leader whose
 * session is lost stops being the leader at that moment: before any observer is notified, and before the server lets the next candidate
 * lead.
 *
 * Not promised: that an old leader has stopped acting when the next one begins. A paused process notices nothing. Send `Leadership.token`
 * with every write.
 *
 * It follows etcd's `concurrency.Election` (Campaign, Proclaim, Observe, Resign, ResumeElection) and Curator's `LeaderSelector`.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for a name or a value that cannot be stored
 * @example
 * const scheduler = election(client, 'scheduler', { value: '10.0.0.7:8080' });
 * await scheduler.lead(
 *   async (leadership, stop) => {
 *     while (!stop.aborted) await dispatchNextJob({ token: leadership.token, signal: stop });
 *   },
 *   { signal: shutdown.signal },
 * );
 */
export function election(client: LockClient, name: string, options: ElectionOptions): Election {
  const { value, id, clock = machineClock } = checkedOptions('options of election', options, OPTIONS);
  if (typeof value !== 'string') throw invalidArgument('value', value, 'is a string');
  if (id !== undefined && !/^[0-9a-f]{32}$/.test(id))
    throw invalidArgument('id', id, 'is the id of a leadership, 32 hexadecimal digits');
  // Creates a claim only to validate the name and the value. Nothing subscribes to it, so it joins no queue.
  void client.claim(name, { value });
  const records = { office: new Office(), troubles: new ElectionErrors(clock), clock };
  return new QueueElection(
    new Ballot(client, name, { value, ...(id === undefined ? {} : { id }), ...records }),
  );
}

const OPTIONS: KnownOptions<ElectionOptions> = { value: 'string', id: 'string', clock: 'object' };
const CAMPAIGN_OPTIONS: KnownOptions<CampaignOptions> = {
  signal: 'any',
  timeoutMs: 'number',
  minRemainingMs: 'number',
};
const LEAD_OPTIONS: KnownOptions<LeadOptions> = {
  signal: 'any',
  minRemainingMs: 'number',
  workTimeoutMs: 'number',
  onEnd: 'function',
};

class QueueElection implements Election {
  readonly candidacy$: Observable<Leadership | undefined>;
  readonly isLeader$: Observable<boolean>;
  readonly errors$: Observable<ElectionErrorEvent>;
  readonly leader$: Observable<LeaderState>;
  readonly candidates$: Observable<CandidatesState>;
  readonly #ballot: Ballot;

  constructor(ballot: Ballot) {
    const { client, name, office, troubles } = ballot;
    this.#ballot = ballot;
    this.candidacy$ = inCallerContext(presenceOf(ballot));
    this.isLeader$ = inCallerContext(office.isFilled(client));
    this.errors$ = inCallerContext(troubles.emitted$);
    this.leader$ = leaderIn(client.watch(name));
    this.candidates$ = candidatesIn(client.watch(name));
  }

  get name(): string {
    return this.#ballot.name;
  }

  async campaign(options?: CampaignOptions): Promise<Leadership> {
    const checked = checkedOptions('options of campaign', options, CAMPAIGN_OPTIONS);
    const stand = this.#ballot.stand();
    try {
      return await this.#stood(stand, checked);
    } catch (error) {
      // The entry of an earlier process, which this campaign was to take over, has been removed. So this
      // process campaigns with a new entry.
      if (stand.id === undefined || !isQueueLockError(error, 'ENTRY_LOST')) throw error;
      return this.#stood(this.#ballot.stand(), checked);
    }
  }

  async lead(work: LeaderWork, options: LeadOptions): Promise<void> {
    if (typeof work !== 'function') throw invalidArgument('work', work, 'is a function');
    const checked = checkedOptions('options of lead', options, LEAD_OPTIONS);
    const { signal } = checked;
    checkWorkOptions(checked);
    if (!(signal instanceof AbortSignal))
      throw invalidArgument('signal', signal, 'is an AbortSignal: nothing else ends the leading');
    await leadUntilAborted(this.#ballot, work, options);
  }

  async #stood(stand: Stand, options: CampaignOptions): Promise<Leadership> {
    const { client, name } = this.#ballot;
    const ownership = await client.acquire(name, { ...stand, ...options });
    try {
      return await this.#ballot.elected(ownership, stand);
    } catch (error) {
      await ownership.release();
      throw error;
    }
  }
}
