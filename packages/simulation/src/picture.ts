import type { Attempt, Hold, Life, Queue, Scene, Violation } from '@queuelock/harness/timeline/scene';
import { timelineOf } from '@queuelock/harness/timeline/timeline';
import type { Fact } from './run/facts.ts';

type FactOf<T extends Fact['type']> = Extract<Fact, { readonly type: T }>;

const NS = 1e6;
/**
 * Share of the picture's width that stays free after the end of the run. A violation often occurs right at
 * the end.
 */
const AFTER_END = 0.03;
/**
 * Matches the name of an attempt to acquire, such as `c1x3`: the client `c1`, its list of steps `x`, and the
 * attempt number 3.
 */
const ATTEMPT = /c\d+'?[a-z]\d+/g;

/**
 * Draws a simulated run as an SVG file. Each client has a row, and each hold a bar. Faults are shaded, and
 * violations are red.
 */
export function snapshotOf(facts: readonly Fact[], title: string): string {
  const scene = sceneOf(facts);
  return timelineOf(scene, {
    title,
    violations: of(facts, 'broken').map(violationOf),
    window: [0, scene.span.to / 1e9],
  });
}

function sceneOf(facts: readonly Fact[]): Scene {
  const lives = livesOf(facts);
  const endMs = Math.max(1, ...facts.map(({ atMs }) => atMs));
  return {
    lives: [...lives.values()],
    queues: queuesOf(facts, lives),
    faults: of(facts, 'fault').map(({ atMs, forMs, what, target }, i) => ({
      ...{ number: i + 1, what, target },
      from: atMs * NS,
      to: (atMs + forMs) * NS,
    })),
    span: { from: 0, to: endMs * NS * (1 + AFTER_END) },
  };
}

/** Returns all clients that have requested a lock in the run, sorted by name. */
function livesOf(facts: readonly Fact[]): Map<string, Life> {
  const byNumber = new Intl.Collator('en', { numeric: true });
  const names = new Set(of(facts, 'wants').map(({ client }) => client));
  const lives = [...names].sort(byNumber.compare).map((who): Life => {
    const crash = of(facts, 'crashes').find(({ client }) => client === who);
    return {
      who,
      frozen: of(facts, 'frozen')
        .filter(({ client }) => client === who)
        .map(({ atMs, forMs }) => ({ from: atMs * NS, to: (atMs + forMs) * NS })),
      stalled: [],
      killed: crash && crash.atMs * NS,
    };
  });
  return new Map(lives.map((life) => [life.who, life]));
}

function queuesOf(facts: readonly Fact[], lives: ReadonlyMap<string, Life>): Queue[] {
  const names = new Set(of(facts, 'wants').flatMap(({ queues }) => queues));
  return [...names].sort().map((name) => {
    const stays = of(facts, 'wants')
      .filter(({ queues }) => queues.includes(name))
      .flatMap((acquisition) => {
        const life = lives.get(acquisition.client);
        return life ? [stayOf(facts, { newEntry: acquisition, queue: name, life })] : [];
      });
    return {
      name,
      attempts: stays.map(({ attempt }) => attempt),
      holds: stays.flatMap(({ hold }) => hold ?? []),
    };
  });
}

interface Acquisition {
  readonly newEntry: FactOf<'wants'>;
  readonly queue: string;
  readonly life: Life;
}

/** Converts one attempt to acquire a queue to a bar of the picture. */
function stayOf(
  facts: readonly Fact[],
  { newEntry, queue, life }: Acquisition,
): { readonly attempt: Attempt; readonly hold: Hold | undefined } {
  const isOwn = (fact: { readonly who: string; readonly queue?: string }): boolean =>
    fact.who === newEntry.who && (fact.queue ?? queue) === queue;
  const grant = of(facts, 'holds').find(isOwn);
  const failure = grant ? undefined : of(facts, 'gets nothing').find(isOwn);
  const failed = failure && failure.atMs * NS;
  const acquired = grant && grant.atMs * NS;
  const attempt: Attempt = {
    ...{ life, name: newEntry.who, queue, acquired, failed },
    token: grant?.token,
    enqueue: newEntry.atMs * NS,
    queued: undefined,
    revoked: undefined,
    cancelled: undefined,
    why: failure?.why,
    waitedUntil: acquired ?? failed ?? life.killed ?? Infinity,
  };
  const end = of(facts, 'held').find(isOwn);
  return { attempt, hold: grant && end && holdOf(attempt, grant, end) };
}

function holdOf(attempt: Attempt, { atMs, token }: FactOf<'holds'>, { untilMs, how }: FactOf<'held'>): Hold {
  const until = untilMs * NS;
  return { attempt, token, from: atMs * NS, until, deadline: how === 'lost' ? until : Infinity, how };
}

function violationOf({ rule, detail, atMs }: FactOf<'broken'>): Violation {
  return { rule, message: detail, attempts: detail.match(ATTEMPT) ?? [], at: atMs * NS };
}

function of<T extends Fact['type']>(facts: readonly Fact[], type: T): FactOf<T>[] {
  return facts.filter((fact): fact is FactOf<T> => fact.type === type);
}
