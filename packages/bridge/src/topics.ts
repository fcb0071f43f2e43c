import { after } from '@queuelock/core/backend';
import type { FaultLog } from './faults.ts';
import type { Joins } from './joins/joins.ts';
import type { Settings } from './options.ts';
import { SeenDeadlocks } from './pictures/deadlocks.ts';
import { Findings } from './pictures/faults.ts';
import { electionPicture, queuePicture, timelinePicture } from './pictures/queue.ts';
import { sessionsPicture } from './pictures/sessions.ts';
import { watchDeepest, type DeepQueues, type DeepSettings } from './queue/deepest-queues.ts';
import { ListedQueues } from './queue/listed-queues.ts';
import { SharedLists } from './queue/shared-lists.ts';
import { sampled } from './queue/sampled.ts';
import type { WatchedQueue } from './queue/watched-queue.ts';
import type { WatchedQueues } from './queue/watched-queues.ts';
import { Refused } from './refusal.ts';
import { EMPTY, defer, filter, from, merge, repeat, startWith, tap, type Observable } from './rx.ts';
import type { ServerTime } from './server-time.ts';
import type { TopicSource } from './stream/feed.ts';
import type { ContendersPicture, JoinKey, Topic } from './wire.ts';

/** What topics are told from. */
export interface TopicTools {
  readonly settings: Settings;
  readonly time: ServerTime;
  readonly watched: WatchedQueues;
  readonly joins: Joins;
  readonly faults: FaultLog;
}

// A time budget shrinks also while nothing happens.
const BUDGET_EVERY_MS = 1_000;
// Looks over many queues: the reduction of a waits-for graph, and lists of all entries.
const DEEP_EVERY_MS = 500;

type DeepChoice = Pick<DeepSettings, 'minDepth'> & { readonly prefix: string };

/** Where the pictures of each kind of topic come from. */
export class Topics {
  readonly #tools: TopicTools;
  readonly #lists: SharedLists;

  constructor(tools: TopicTools) {
    this.#tools = tools;
    this.#lists = new SharedLists(tools.settings.client, tools.settings.clock);
  }

  /** @throws {QueueLockError} for a name that the store cannot have, a limit, a join that is not known. */
  open(topic: Topic): TopicSource {
    switch (topic.kind) {
      case 'queues':
        return this.#queues(topic.prefix);
      case 'queue':
      case 'timeline':
      case 'election':
        return this.#queue(topic.kind, topic.name);
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
    return { changed$, draw: () => join.picture(), close: join.silence.openStream() };
  }

  #queues(prefix: string): TopicSource {
    const { settings, time } = this.#tools;
    const listed = new ListedQueues(prefix);
    const changed$ = this.#lists.watch(prefix).pipe(
      tap((state) => {
        listed.look(state, time.now());
      }),
      filter(isSeen),
    );
    return { changed$, draw: () => listed.picture(time.now(), settings.limits.listed), close };
  }

  #queue(kind: 'queue' | 'timeline' | 'election', name: string): TopicSource {
    const { watched, time, joins } = this.#tools;
    const [queue, stopLooking] = watched.look(name);
    const draws = {
      queue: () => queuePicture(queue, time.now(), (id) => joins.budgetOf(id)),
      timeline: () => timelinePicture(queue, time.now()),
      election: () => electionPicture(queue, time.now()),
    };
    const changed$ = queue.changed$.pipe(
      startWith(undefined),
      filter(() => isSeen(queue.state)),
    );
    const budget$ = kind === 'queue' ? this.#budgetTicks(queue) : EMPTY;
    return { changed$: merge(changed$, budget$), draw: draws[kind], close: stopLooking };
  }

  #budgetTicks(queue: WatchedQueue): Observable<unknown> {
    const { settings, joins } = this.#tools;
    return after(settings.clock, BUDGET_EVERY_MS).pipe(
      repeat(),
      filter(() => queue.state.entries.some(({ id }) => joins.budgetOf(id) !== undefined)),
    );
  }

  #sessions(prefix: string): TopicSource {
    const { time } = this.#tools;
    let deep: DeepQueues | undefined;
    const changed$ = this.#deepest({ prefix, minDepth: 1 }).pipe(
      tap((now) => {
        deep = now;
      }),
    );
    return { changed$, draw: () => deep && sessionsPicture(prefix, deep, time.now()), close };
  }

  #deadlocks(prefix: string): TopicSource {
    const { settings, time } = this.#tools;
    const seen = new SeenDeadlocks(prefix, settings.clock);
    // Where nobody waits nobody waits in a circle.
    const deep$ = this.#deepest({ prefix, minDepth: 2 }, () => seen.isUnsure);
    const changed$ = deep$.pipe(
      tap((deep) => {
        seen.look(deep);
      }),
    );
    return { changed$, draw: () => seen.picture(time.now()), close };
  }

  #faults(prefix: string): TopicSource {
    const { settings, time, faults } = this.#tools;
    const { client, clock, times } = settings;
    const findings = new Findings(prefix, { client, time, log: faults });
    const examined$ = defer(() => from(findings.examine())).pipe(
      repeat({ delay: () => after(clock, times.examineMs) }),
    );
    const changed$ = merge(examined$, faults.changed$).pipe(filter(() => findings.isReady));
    return { changed$, draw: () => findings.picture(time.now()), close };
  }

  #contenders(name: string): TopicSource {
    const { settings, time } = this.#tools;
    const { contenders } = settings;
    if (contenders?.name !== name)
      throw new Refused(404, 'INVALID_ARGUMENT', 'this bridge has no contenders in that queue');
    const draw = (): ContendersPicture => ({ at: time.now(), status: 'live', name, ...contenders.draw() });
    return { changed$: contenders.changed$.pipe(startWith(undefined)), draw, close };
  }

  /** From time to time, since many queues change often. */
  #deepest(which: DeepChoice, again?: () => boolean): Observable<DeepQueues> {
    const { client, clock, limits } = this.#tools.settings;
    const list$ = this.#lists.watch(which.prefix);
    const deep$ = watchDeepest(client, list$, { ...which, most: limits.deepest });
    const sampling = { clock, everyMs: DEEP_EVERY_MS, ...(again ? { again } : {}) };
    return sampled(deep$, sampling).pipe(filter(({ list }) => isSeen(list)));
  }
}

/** Whether there is more to tell than that nothing is known yet. */
function isSeen({ status, trouble }: { readonly status: string; readonly trouble?: unknown }): boolean {
  return status !== 'connecting' || trouble !== undefined;
}

/** Of sources whose subscription is all they have. */
function close(): void {
  // Nothing is kept besides.
}
