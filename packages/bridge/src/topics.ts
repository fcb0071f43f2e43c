import type { RecordedHoldsState } from '@queuelock/core';
import { after } from '@queuelock/core/backend';
import type { FaultLog } from './faults.ts';
import type { Joins } from './joins/joins.ts';
import type { Settings } from './options.ts';
import { SeenDeadlocks } from './snapshots/deadlocks.ts';
import { Findings } from './snapshots/faults.ts';
import { electionSnapshot, queueSnapshot, timelineSnapshot } from './snapshots/queue.ts';
import { recordOf, recordSnapshot } from './snapshots/record.ts';
import { sessionsSnapshot } from './snapshots/sessions.ts';
import { watchDeepest, type DeepQueues, type DeepSettings } from './queue/deepest-queues.ts';
import { NameBudget } from './queue/name-budget.ts';
import { SharedLists } from './queue/shared-lists.ts';
import type { WatchedQueue } from './queue/watched-queue.ts';
import type { WatchedQueues } from './queue/watched-queues.ts';
import { Refused } from './refusal.ts';
import { EMPTY, defer, filter, from, merge, repeat, startWith, tap, type Observable } from './rx.ts';
import type { ServerTime } from './server-time.ts';
import type { TopicSource } from './stream/feed.ts';
import type { ContendersSnapshot, JoinKey, Topic } from './wire.ts';

/** The parts of a bridge that `Topics` uses. */
export interface TopicTools {
  readonly settings: Settings;
  readonly time: ServerTime;
  readonly watched: WatchedQueues;
  readonly joins: Joins;
  readonly faults: FaultLog;
}

// Interval in milliseconds at which snapshots of joins are refreshed, because the remaining time of a hold
// shrinks without any event.
const BUDGET_EVERY_MS = 1_000;
// Shortest interval in milliseconds between two snapshots that are computed from many queues: deadlocks and
// lists of sessions.
const DEEP_EVERY_MS = 500;

type DeepChoice = Pick<DeepSettings, 'minDepth' | 'again'> & { readonly prefix: string };

/** Creates the sources of snapshots for each kind of topic. */
export class Topics {
  readonly #tools: TopicTools;
  readonly #lists: SharedLists;
  readonly #names: NameBudget;

  constructor(tools: TopicTools) {
    this.#tools = tools;
    const { client, clock, limits } = tools.settings;
    this.#lists = new SharedLists({ client, clock, time: tools.time });
    this.#names = new NameBudget(limits.queues);
  }

  /**
   * Opens the source of a topic.
   * @throws {QueueLockError} for a name that the store cannot represent, for a limit that was reached, and
   *   for an unknown join
   */
  open(topic: Topic): TopicSource {
    switch (topic.kind) {
      case 'queues':
        return this.#queues(topic.prefix);
      case 'queue':
      case 'timeline':
      case 'election':
        return this.#queue(topic.kind, topic.name);
      case 'record':
        return this.#record(topic.name);
      case 'sessions':
        return this.#sessions(topic.prefix);
      case 'deadlocks':
        return this.#deadlocks(topic.prefix);
      case 'faults':
        return this.#faults(topic.prefix);
      case 'contenders':
        return this.#contenders(topic.name);
      case 'join':
        return this.#join(topic);
    }
  }

  #join(key: JoinKey): TopicSource {
    const join = this.#tools.joins.get(key);
    const changed$ = join.changed$.pipe(startWith(undefined));
    return { changed$, encode: inJson(() => join.snapshot()), close: join.idleDetector.openStream() };
  }

  close(): void {
    this.#lists.close();
  }

  #queues(prefix: string): TopicSource {
    const { settings, time } = this.#tools;
    const view = this.#lists.view(prefix);
    const encode = (): Iterable<string> => view.pieces(time.now(), settings.limits.listed);
    return { changed$: view.changed$, encode, close: () => view.close() };
  }

  #queue(kind: 'queue' | 'timeline' | 'election', name: string): TopicSource {
    const { watched, time, joins } = this.#tools;
    const [queue, stopReading] = watched.watch(name);
    const draws = {
      queue: () => queueSnapshot(queue, time.now(), (id) => joins.budgetOf(id)),
      timeline: () => timelineSnapshot(queue, time.now()),
      election: () => electionSnapshot(queue, time.now()),
    };
    const changed$ = queue.changed$.pipe(
      startWith(undefined),
      filter(() => isSeen(queue.state)),
    );
    const budget$ = kind === 'queue' ? this.#budgetTicks(queue) : EMPTY;
    return { changed$: merge(changed$, budget$), encode: inJson(draws[kind]), close: stopReading };
  }

  #budgetTicks(queue: WatchedQueue): Observable<unknown> {
    const { settings, joins } = this.#tools;
    return after(settings.clock, BUDGET_EVERY_MS).pipe(
      repeat(),
      filter(() => queue.state.entries.some(({ id }) => joins.budgetOf(id) !== undefined)),
    );
  }

  #record(name: string): TopicSource {
    const { settings, time } = this.#tools;
    let record: RecordedHoldsState | undefined;
    const changed$ = recordOf(settings.client, name).pipe(
      filter((now) => isSeen(now)),
      tap((now) => {
        record = now;
      }),
    );
    return { changed$, encode: inJson(() => record && recordSnapshot(record, time.now())), close };
  }

  #sessions(prefix: string): TopicSource {
    const { time } = this.#tools;
    let deep: DeepQueues | undefined;
    const changed$ = this.#deepest({ prefix, minDepth: 1 }).pipe(
      tap((now) => {
        deep = now;
      }),
    );
    return { changed$, encode: inJson(() => deep && sessionsSnapshot(prefix, deep, time.now())), close };
  }

  #deadlocks(prefix: string): TopicSource {
    const { settings, time } = this.#tools;
    const seen = new SeenDeadlocks(prefix, settings.clock);
    // Does not watch queues with a single entry: a queue without waiters cannot be part of a deadlock.
    const deep$ = this.#deepest({ prefix, minDepth: 2, again: () => seen.isUnsure });
    const changed$ = deep$.pipe(
      tap((deep) => {
        seen.update(deep);
      }),
    );
    return { changed$, encode: inJson(() => seen.snapshot(time.now())), close };
  }

  #faults(prefix: string): TopicSource {
    const { settings, time, faults } = this.#tools;
    const { client, clock, times } = settings;
    const findings = new Findings(prefix, { client, time, log: faults });
    const diagnosed$ = defer(() => from(findings.diagnose())).pipe(
      repeat({ delay: () => after(clock, times.diagnoseEveryMs) }),
    );
    const changed$ = merge(diagnosed$, faults.changed$).pipe(filter(() => findings.isReady));
    return { changed$, encode: inJson(() => findings.snapshot(time.now())), close };
  }

  #contenders(name: string): TopicSource {
    const { settings, time } = this.#tools;
    const { contenders } = settings;
    if (contenders?.name !== name)
      throw new Refused(404, 'INVALID_ARGUMENT', 'this bridge has no contenders in that queue');
    const draw = (): ContendersSnapshot => ({ at: time.now(), status: 'live', name, ...contenders.draw() });
    return { changed$: contenders.changed$.pipe(startWith(undefined)), encode: inJson(draw), close };
  }

  /**
   * Watches the queues with the most entries. Limits how often values are emitted, because many queues change
   * often.
   */
  #deepest({ prefix, ...which }: DeepChoice): Observable<DeepQueues> {
    const { client, clock, limits } = this.#tools.settings;
    const settings = {
      ...which,
      client,
      clock,
      names: this.#names,
      max: limits.deepest,
      everyMs: DEEP_EVERY_MS,
    };
    return watchDeepest(this.#lists.view(prefix), settings);
  }
}

/** Returns whether a topic has something to show: the store has responded, or an error is known. */
function isSeen({ status, error }: { readonly status: string; readonly error?: unknown }): boolean {
  return status !== 'connecting' || error !== undefined;
}

/** Encodes a topic's snapshot as a single piece of JSON. */
function inJson(draw: () => unknown): () => Iterable<string> {
  return () => [JSON.stringify(draw())];
}

/**
 * The function `close` of a source whose only resources are subscriptions. It does nothing, because these end
 * when the feed unsubscribes.
 */
function close(): void {}
