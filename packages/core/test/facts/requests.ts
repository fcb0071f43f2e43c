import type { MemoryCall } from '@queuelock/memory';
import { expect } from 'chai';
import { map } from 'rxjs';
import type { Backend } from '../../src/backend.ts';
import type { ClaimState, HandoverRequest, LockClient, SharedOwnership } from '../../src/index.ts';
import {
  Gate,
  follow,
  join,
  losingReplies,
  rejection,
  type CoreFact,
  type Followed,
  type Stage,
  type StageClientOptions,
} from '../stage.ts';

const WITHIN_MS = 60_000;
const REQUEST = { request: { reason: 'a deployment waits', withinMs: WITHIN_MS } };

/** Returns each distinct response that the waiter has received to its handover request. */
function answersOf({ states }: Followed<ClaimState>): readonly unknown[] {
  const replies = states.map((state) => (state.status === 'queued' ? state.answer : undefined));
  return [...new Set(replies)].filter((reply) => reply !== undefined).map(({ answer }) => answer);
}

/** Collects the handover requests that the holder receives. */
function requestsOf(ownership: SharedOwnership): HandoverRequest[] {
  const requests: HandoverRequest[] = [];
  ownership.requests$.subscribe((request) => requests.push(request));
  return requests;
}

interface Scene {
  readonly client: LockClient;
  readonly own: SharedOwnership;
  readonly between: Followed<ClaimState>;
  readonly requester: Followed<ClaimState>;
  readonly request: HandoverRequest;
}

/** Sets up a holder, a waiter behind it, and a third client that requests the lock from the holder. */
async function sendRequest(
  stage: Stage,
  holder: StageClientOptions = {},
  requesting: StageClientOptions = {},
): Promise<Scene> {
  const client = stage.client({ owner: 'holder', ...holder });
  const own = await client.acquire('x');
  const requests = requestsOf(own);
  const between = await join(stage, stage.client());
  const requester = await join(stage, stage.client({ owner: 'requester', ...requesting }), REQUEST);
  return { client, own, between, requester, request: requests[0]! };
}

async function finish(stage: Stage, { own, between, requester }: Scene): Promise<void> {
  await stage.passing(own.release());
  for (const { subscription } of [between, requester]) subscription.unsubscribe();
  await stage.settle();
}

/**
 * Wraps a backend so that each queue begins with a released entry that the store has not removed yet. This is
 * the state after a hand-off within a session.
 */
function withReleasedAhead(backend: Backend, evicted: string[]): Backend {
  const released = { key: 'x/0', order: 0n, shared: false, value: '{"owner":"released"}' };
  return {
    ...backend,
    observe: (queue) => backend.observe(queue).pipe(map((entries) => [released, ...entries])),
    evict: (queue, entry) => {
      evicted.push(entry.key);
      return backend.evict!(queue, entry);
    },
  };
}

const ANSWERS = ['yieldToQueue', 'yieldToRequester', 'decline'] as const;

function respond(request: HandoverRequest, how: (typeof ANSWERS)[number]): Promise<void> {
  return how === 'decline' ? request.decline('not now') : request[how]();
}

export const requestFacts: readonly CoreFact[] = [
  {
    title: 'a holder that yields releases as soon as the requester has acknowledged the response',
    async check(stage) {
      const scene = await sendRequest(stage);
      const yielded = scene.request.yieldToQueue();
      await stage.settle();
      expect([scene.own.held, scene.between.last.status]).to.deep.equal([false, 'held']);
      await yielded;
      expect(answersOf(scene.requester)).to.deep.equal(['yields']);
      expect(await seenBy(stage, scene.client)).to.deep.equal([1]);
      await finish(stage, scene);
    },
  },
  {
    title: 'a holder that yields releases after 1 s when the requester does not acknowledge the response',
    async check(stage) {
      const deaf = new Gate('update');
      const scene = await sendRequest(stage, {}, { link: { intercept: deaf.requests } });
      const yielded = scene.request.yieldToRequester();
      await stage.clock.advance(999);
      expect(scene.own.held).to.equal(true);
      await stage.clock.advance(1);
      await yielded;
      expect([scene.own.held, scene.requester.last.status]).to.deep.equal([false, 'held']);
      deaf.open();
      await finish(stage, scene);
    },
  },
  {
    title:
      'a holder that yields never evicts its own entry, even while the store still shows a released entry ahead of it',
    async check(stage) {
      const evicted: string[] = [];
      const scene = await sendRequest(stage, { spoil: (backend) => withReleasedAhead(backend, evicted) });
      const { key } = scene.own;
      await stage.passing(scene.request.yieldToRequester());
      await stage.settle();
      expect(evicted).to.have.length(1).and.not.include(key);
      expect(scene.requester.last.status).to.equal('held');
      await finish(stage, scene);
    },
  },
  ...ANSWERS.map((how): CoreFact => ({
    title: `a requester receives the response ${how} exactly once, even if the first reply to each kind of request is lost`,
    async check(stage) {
      const calls: readonly MemoryCall[] = ['update', 'evict', 'readRegister', 'writeRegister', 'remove'];
      const losing = (): StageClientOptions => ({ link: { intercept: losingReplies(calls) } });
      const scene = await sendRequest(stage, losing(), losing());
      await stage.passing(respond(scene.request, how));
      await stage.clock.advance(2_000);
      expect(answersOf(scene.requester)).to.deep.equal([how === 'decline' ? 'declined' : 'yields']);
      const next = { decline: 'queued', yieldToQueue: 'queued', yieldToRequester: 'held' }[how];
      expect(scene.requester.last.status).to.equal(next);
      expect(scene.between.last.status).to.equal(how === 'yieldToQueue' ? 'held' : 'queued');
      await finish(stage, scene);
    },
  })),
  ...ANSWERS.flatMap((how) =>
    (['update', 'evict', 'readRegister', 'writeRegister', 'remove'] as const).map((call): CoreFact => ({
      title: `the call ${how} of a holder settles within 1 s when its client closes while the request ${call} is pending`,
      async check(stage) {
        const gate = new Gate(call);
        const deaf = new Gate('update');
        const scene = await sendRequest(
          stage,
          { link: { intercept: gate.requests } },
          { link: { intercept: deaf.requests } },
        );
        const outcome = respond(scene.request, how).then(
          () => 'done',
          (error: unknown) => (error as { readonly code: unknown }).code,
        );
        await stage.clock.advance(500);
        const closing = scene.client.close();
        await stage.settle();
        gate.open();
        deaf.open();
        await stage.passing(closing);
        expect(await stage.passing(outcome)).to.be.oneOf(['done', 'OWNERSHIP_LOST', 'CLOSED']);
        expect(stage.clock.now(), 'nobody waits for what cannot come').to.be.below(1_000);
        await finish(stage, scene);
      },
    })),
  ),
  ...(['update', 'evict'] as const).map((call): CoreFact => ({
    title: `the call yieldToRequester of a holder settles when its session ends while the request ${call} is pending`,
    async check(stage) {
      const gate = new Gate(call);
      const scene = await sendRequest(stage, { link: { intercept: gate.requests } });
      const outcome = scene.request.yieldToRequester().then(
        () => 'done',
        (error: unknown) => (error as { readonly code: unknown }).code,
      );
      await stage.settle();
      expect(gate.held).to.equal(1);
      stage.server.expireSession(stage.server.sessionIds[0]!);
      await stage.settle();
      gate.open();
      // `yieldToRequester` sends the requests `update` and `evict`. If the holder's session ends during
      // `update`, it rejects. If the session ends during `evict`, it resolves: nothing is left to release.
      expect(await stage.passing(outcome)).to.equal(call === 'update' ? 'OWNERSHIP_LOST' : 'done');
      await finish(stage, scene);
    },
  })),
  {
    title: 'a holder that yields releases immediately when the requesting claim was cancelled',
    async check(stage) {
      const scene = await sendRequest(stage);
      scene.requester.subscription.unsubscribe();
      await stage.settle();
      await stage.passing(scene.request.yieldToRequester());
      expect([stage.clock.now() < 100, scene.between.last.status]).to.deep.equal([true, 'held']);
      await finish(stage, scene);
    },
  },
  {
    title: 'a reader that yields to a requester evicts only waiters, and other readers keep their holds',
    async check(stage) {
      const [one, two] = [stage.client(), stage.client()];
      const first = await one.acquire('x', { mode: 'shared' });
      const second = await two.acquire('x', { mode: 'shared' });
      const requests = requestsOf(first);
      const writer = await join(stage, stage.client());
      const requester = await join(stage, stage.client(), REQUEST);
      await stage.passing(requests[0]!.yieldToRequester());
      expect([first.held, second.held, writer.statuses]).to.deep.equal([
        false,
        true,
        ['joining', 'queued', 'queued'],
      ]);
      await stage.passing(second.release());
      await stage.settle();
      expect([requester.last.status, writer.last.status]).to.deep.equal(['held', 'queued']);
      for (const { subscription } of [requester, writer]) subscription.unsubscribe();
    },
  },
  {
    title:
      'each holder of a semaphore responds to a request once, and the requester receives each response once',
    async check(stage) {
      const limit = { limit: 2 };
      const holds = [await stage.client().acquire('x', limit), await stage.client().acquire('x', limit)];
      const received = holds.map(requestsOf);
      const slow = new Gate('update');
      const requesting = stage.client({ link: { intercept: slow.replies } });
      const requester = await join(stage, requesting, { ...limit, ...REQUEST });
      for (const [at, [request]] of received.entries()) await request!.decline(`no ${at}`);
      await stage.settle();
      await holds[0]!.update({ metadata: { still: 'busy' } });
      await holds[1]!.update({ metadata: { still: 'busy' } });
      slow.open();
      await stage.settle();
      const reported = requester.states.flatMap((state) =>
        state.status === 'queued' ? [state.answer?.reason] : [],
      );
      expect(reported).to.deep.equal([undefined, 'no 0', 'no 1']);
      expect(received.map(({ length }) => length)).to.deep.equal([1, 1]);
      requester.subscription.unsubscribe();
      for (const hold of holds) await stage.passing(hold.release());
    },
  },
  {
    title:
      'a response after the timeout of a handover request still reaches the requester, whose state was ignored until then',
    async check(stage) {
      const scene = await sendRequest(stage);
      await stage.clock.advance(WITHIN_MS);
      expect(answersOf(scene.requester)).to.deep.equal(['ignored']);
      await stage.passing(scene.request.decline('sorry, late'));
      await stage.settle();
      expect(answersOf(scene.requester)).to.deep.equal(['ignored', 'declined']);
      await finish(stage, scene);
    },
  },
  {
    title:
      'the stream of requests completes immediately for a client that subscribes after the end of the hold',
    async check(stage) {
      const scene = await sendRequest(stage);
      await stage.passing(scene.own.release());
      let completed = false;
      scene.own.requests$.subscribe({ next: () => expect.fail(), complete: () => (completed = true) });
      expect(completed).to.equal(true);
      await finish(stage, scene);
    },
  },
  {
    title: 'a holder cannot respond to handover requests after its release',
    async check(stage) {
      const scene = await sendRequest(stage);
      await stage.passing(scene.own.release());
      for (const how of ANSWERS)
        expect(await rejection(respond(scene.request, how))).to.include({ code: 'OWNERSHIP_LOST' });
      await finish(stage, scene);
    },
  },
  {
    title: "a response to a handover request does not change the metadata in the holder's entry",
    async check(stage) {
      const scene = await sendRequest(stage);
      await scene.own.update({ metadata: { job: '7' } });
      await Promise.all([scene.request.decline('no'), scene.own.update({ metadata: { job: '8' } })]);
      const seen = follow(scene.client.watch('x'));
      await stage.settle();
      const [entry] = seen.last.entries;
      expect(entry?.metadata).to.deep.equal({ job: '8' });
      expect(entry?.answers).to.have.length(1);
      seen.subscription.unsubscribe();
      await finish(stage, scene);
    },
  },
];

/**
 * Counts, for each waiter that has sent a handover request, the holders whose responses it has read. Omits
 * waiters that have read no response.
 */
async function seenBy(stage: Stage, client: LockClient): Promise<readonly number[]> {
  const seen = follow(client.watch('x'));
  await stage.settle();
  seen.subscription.unsubscribe();
  return seen.last.entries.map(({ heard }) => heard.length).filter((count) => count > 0);
}
