import type { Intercept } from '@queuelock/memory';
import type { Observable } from 'rxjs';
import type { ClaimState, LockClient, MultiClaimState, Ownership } from '../../src/index.ts';
import type { Core } from '../model/world.ts';
import { SafetyViolation } from '@queuelock/harness/safety';
import { Stage } from '../stage.ts';
import { NAMES, type Fate, type Plan, type TaskPlan, type Failure } from './plan.ts';
import { Witness } from './witness.ts';

const TTL_MS = 2_000;
const READ_INTERVAL_MS = 10;
const FAULTS_END_MS = 6_000;
const MAX_WAIT_MS = 30_000;

/**
 * How a task locks several names: by one multi-lock, or one by one in the caller's order. With `one by one`,
 * a task waits for each lock while it holds the locks before it.
 */
export type Taking = 'together' | 'one by one';

/**
 * Runs a plan (tasks of several clients, and faults) in virtual time. Resolves with descriptions of what went
 * wrong. Rejects if two clients held a name at once.
 */
export async function play(plan: Plan, taking: Taking, core?: Core): Promise<readonly string[]> {
  const scene = new Scene(plan, taking, core);
  return scene.play();
}

class Scene {
  readonly #stage: Stage;
  readonly #plan: Plan;
  readonly #taking: Taking;
  readonly #witness: Witness;
  readonly #clients: readonly LockClient[];
  readonly #cutUntil = new Map<number, number>();
  readonly #fates: Fate[];
  readonly #sessions = new Map<number, string>();
  readonly #waiting = new Set<string>();

  constructor(plan: Plan, taking: Taking, core: Core | undefined) {
    this.#stage = new Stage(core);
    this.#plan = plan;
    this.#taking = taking;
    this.#witness = new Witness(this.#stage.server);
    this.#fates = [...plan.fates];
    this.#clients = plan.latenciesMs.map((latencyMs, index) => this.#connect(index, latencyMs));
  }

  async play(): Promise<readonly string[]> {
    const { clock } = this.#stage;
    const faults: string[] = [];
    try {
      for (const [index, task] of this.#plan.tasks.entries()) {
        this.#waiting.add(String(index));
        clock.after(task.startMs, () => this.#start(String(index), task));
      }
      for (const failure of this.#plan.troubles) clock.after(failure.atMs, () => this.#make(failure));
      await this.#pass(FAULTS_END_MS);
      for (let passed = 0; passed < MAX_WAIT_MS && this.#waiting.size > 0; passed += 1_000)
        await this.#pass(1_000);
      this.#witness.finish();
      if (this.#waiting.size > 0) faults.push(`no outcome: ${[...this.#waiting].join()}`);
      else if (this.#stage.server.entryCount > 0) faults.push(`entries: ${this.#stage.server.entryCount}`);
    } finally {
      const left = await this.#stage.leftovers().catch((error: unknown) => String(error));
      if (left !== '') faults.push(`left behind: ${left}`);
    }
    if (this.#witness.faults.length > 0) throw new SafetyViolation(this.#witness.faults.join('; '));
    return faults;
  }

  async #pass(ms: number): Promise<void> {
    const isBusy = (): boolean => this.#waiting.size > 0 || this.#stage.server.entryCount > 0;
    const stepMs = ms > MAX_WAIT_MS ? ms : READ_INTERVAL_MS;
    for (let passed = 0; passed < ms; passed += stepMs) {
      // When no task waits and no entry is stored, only heartbeats follow, and nothing needs a check. Then
      // the clock advances by all the remaining milliseconds in one step.
      if (!isBusy()) return this.#stage.clock.advance(ms - passed);
      await this.#stage.clock.advance(stepMs);
      this.#witness.check();
    }
  }

  #connect(index: number, latencyMs: number): LockClient {
    const intercept: Intercept = async (call, proceed) => {
      const isCut = this.#stage.clock.now() < (this.#cutUntil.get(index) ?? 0);
      if (isCut && call !== 'close') throw new Error('cut off');
      // The simulated network loses no request or reply that opens or closes a session. Otherwise the session
      // would stay on the server until its TTL ends.
      const fate = call === 'close' || call === 'open' ? 'arrives' : (this.#fates.shift() ?? 'arrives');
      if (fate === 'request lost') throw new Error('request lost');
      const reply = await proceed();
      if (fate === 'answer lost') throw new Error('answer lost');
      return reply;
    };
    const client = this.#stage.client({ ttlMs: TTL_MS, link: { latencyMs, intercept } });
    client.session$.subscribe(({ id }) => {
      if (id !== undefined) this.#sessions.set(index, id);
    });
    return client;
  }

  #make(problem: Failure): void {
    const { server, clock } = this.#stage;
    if (problem.what === 'cut') this.#cutUntil.set(problem.client, clock.now() + problem.ms);
    if (problem.what === 'evict') {
      const entry = server.queues().get(problem.name)?.[problem.place];
      if (entry) this.#witness.taken(entry.key);
      if (entry) server.evict(entry.key);
    }
    if (problem.what === 'expire') {
      const id = this.#sessions.get(problem.client);
      for (const name of NAMES)
        for (const { key, sessionId } of server.queues().get(name) ?? [])
          if (sessionId === id) this.#witness.taken(key);
      if (id !== undefined) server.expireSession(id);
    }
  }

  #start(who: string, task: TaskPlan): void {
    if (this.#taking === 'one by one') void this.#oneByOne(who, task, []);
    else this.#together(who, task);
  }

  #together(who: string, { client, names, shared, holdMs, givesUp }: TaskPlan): void {
    const { clock } = this.#stage;
    const abort = new AbortController();
    const options = {
      mode: shared ? ('shared' as const) : ('exclusive' as const),
      signal: abort.signal,
      ...(givesUp?.how === 'timeout' ? { timeoutMs: givesUp.afterMs } : {}),
    };
    const locks = this.#clients[client]!;
    let isGranted = false;
    const follow = (state: ClaimState | MultiClaimState): void => {
      if (state.status === 'held' && !isGranted) {
        isGranted = true;
        const { ownership } = state;
        this.#witness.granted(who, 'of' in ownership ? names.map((name) => ownership.of(name)) : [ownership]);
        clock.after(holdMs, () => void ownership.release());
      }
      if (state.status === 'ended') this.#waiting.delete(who);
    };
    const [first] = names;
    const claim$: Observable<ClaimState | MultiClaimState> =
      names.length === 1 ? locks.claim(first!, options) : locks.multi(names).claim(options);
    const subscription = claim$.subscribe(follow);
    if (givesUp?.how === 'abort') clock.after(givesUp.afterMs, () => abort.abort(new Error('enough')));
    if (givesUp?.how === 'unsubscribe')
      clock.after(givesUp.afterMs, () => {
        subscription.unsubscribe();
        this.#waiting.delete(who);
      });
  }

  async #oneByOne(who: string, task: TaskPlan, held: readonly Ownership[]): Promise<void> {
    const name = task.names[held.length];
    if (name === undefined) {
      await new Promise<void>((resolve) => this.#stage.clock.after(task.holdMs, resolve));
      return;
    }
    const mode = task.shared ? 'shared' : 'exclusive';
    const locks = this.#clients[task.client]!;
    await locks
      .run(name, (own) => this.#oneByOne(who, task, [...held, own]), { mode })
      .catch(() => undefined);
    if (held.length === 0) this.#waiting.delete(who);
  }
}
