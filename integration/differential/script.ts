import { createMemoryServer, memory, virtualClock, type VirtualClock } from '@queuelock/memory';
import { Call } from './call.ts';
import { Generator } from './generator.ts';
import { memoryStore } from './memory-store.ts';
import { Player } from './player.ts';
import { isDetermined, type Situation } from './situation.ts';
import type { Features, Step } from './step.ts';

/**
 * Virtual time in milliseconds in which clients of the memory backend complete all work that they can do
 * without a further step.
 */
const QUIET_MS = 3_000;
const LONGEST_CALL_MS = 60_000;

/** A step, and the state to which it leads on the memory backend. */
export interface Moment {
  readonly step: Step;
  readonly state: ReadonlyMap<string, string>;
}

/** A script that was played on the memory backend. It has to lead to the same states on every store. */
export interface Script {
  readonly seed: number;
  readonly queues: readonly string[];
  readonly features: Features;
  readonly moments: readonly Moment[];
}

/** Makes a script of random steps. The same seed gives the same script each time. */
export async function scriptOf(seed: number): Promise<Script> {
  const generator = new Generator(seed);
  const { queues, features } = generator;
  const moments = await played({ queues, features }, (now) => generator.step(now));
  return { seed, queues, features, moments };
}

/**
 * Makes a script of some steps of another script, in their order. Leaves out each step that no longer has a
 * predictable effect, for instance the release of a lock that is not held.
 */
export async function replayed({ seed, queues, features }: Script, steps: readonly Step[]): Promise<Script> {
  const left = steps.filter(({ act }) => act !== 'drain');
  const moments = await played({ queues, features }, (now) => {
    for (let step = left.shift(); step; step = left.shift()) if (isDetermined(step, now)) return step;
    return undefined;
  });
  return { seed, queues, features, moments };
}

async function played(
  { queues, features }: Pick<Script, 'queues' | 'features'>,
  next: (now: Situation) => Step | undefined,
): Promise<readonly Moment[]> {
  const clock = virtualClock();
  const server = createMemoryServer({ clock });
  const store = memoryStore(server, () => memory({ server }));
  const player = new Player({ store, prefix: '', queues, features, clock });
  const moments: Moment[] = [];
  const perform = async (step: Step): Promise<void> => {
    await quiet(clock, player.perform(step));
    moments.push({ step, state: player.state });
  };
  for (let step = next(player.situation); step; step = next(player.situation)) await perform(step);
  await perform({ act: 'drain' });
  await quiet(clock, player.close());
  return moments;
}

/**
 * Lets virtual time pass until the calls of a step have settled and the clients have completed their pending
 * work.
 */
async function quiet(clock: VirtualClock, performed: Promise<void>): Promise<void> {
  const call = new Call(performed);
  const until = clock.now() + LONGEST_CALL_MS;
  do await clock.advance(QUIET_MS);
  while (!call.isSettled && call.failure === undefined && clock.now() < until);
  if (!call.isSettled) throw new Error(`a call on memory: ${call.failure ?? 'has not settled'}`);
}
