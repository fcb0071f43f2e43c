import { expect } from 'chai';
import { defer, throwError } from 'rxjs';
import { QueueLockError, type Backend, type ObserveOptions } from '../src/backend.ts';
import type { ClaimOptions, PositionedClaimState, LockClient, QueuePosition } from '../src/index.ts';
import { follow, join, onStage, rejection, type Followed, type Stage } from './stage.ts';

const onStages = (scene: (stage: Stage) => Promise<void>) => () => onStage(scene);

async function stand(
  stage: Stage,
  options: ClaimOptions = {},
  client: LockClient = stage.client(),
): Promise<Followed<PositionedClaimState>> {
  const queue = follow(client.claimWithPosition('x', options));
  await stage.settle();
  return queue;
}

function asText(state: PositionedClaimState | QueuePosition): string {
  if ('status' in state && state.status !== 'queued') return state.status;
  const { position, expectedWaitMs: waitMs } = state;
  return waitMs === undefined ? `${position}` : `${position}, about ${waitMs / 1_000} s`;
}

/**
 * Advances the clock by more than the minimum interval between two emitted positions, so that the claim emits
 * the next change at once.
 */
async function quiet(stage: Stage): Promise<void> {
  await stage.clock.advance(250);
}

describe('a claim with its position', () => {
  it(
    'emits the states joining, queued with falling positions and waits, held and released',
    onStages(async (stage) => {
      const ahead = [
        await join(stage, stage.client()),
        await join(stage, stage.client()),
        await join(stage, stage.client()),
      ];
      const queue = await stand(stage, { typicalHoldMs: 20_000 });
      for (const { subscription } of ahead) {
        await quiet(stage);
        subscription.unsubscribe();
        await stage.settle();
      }
      queue.subscription.unsubscribe();
      expect(queue.states.map(asText)).to.deep.equal([
        'joining',
        '3, about 60 s',
        // The hold that has just ended began before it was observed, so its duration is not known.
        '2, about 40 s',
        '1, about 0.25 s',
        'held',
      ]);
    }),
  );

  it(
    'emits the grant without delay, but positions at most four times a second',
    onStages(async (stage) => {
      const ahead = await Promise.all(Array.from({ length: 11 }, () => join(stage, stage.client())));
      const queue = await stand(stage);
      for (const { subscription } of ahead.slice(1)) {
        subscription.unsubscribe();
        await stage.clock.advance(50);
      }
      const inLine = queue.states.filter(({ status }) => status === 'queued').map(asText);
      expect(inLine).to.deep.equal(['11', '6', '1']);
      ahead[0]!.subscription.unsubscribe();
      await stage.settle();
      expect(queue.last.status).to.equal('held');
      queue.subscription.unsubscribe();
    }),
  );

  it(
    'keeps its position behind a holder that holds longer than announced, and expects a wait of 0',
    onStages(async (stage) => {
      const holder = await join(stage, stage.client(), { typicalHoldMs: 1_000 });
      const queue = await stand(stage);
      await stage.clock.advance(5_000);
      const last = await join(stage, stage.client());
      expect(queue.states.map(asText)).to.deep.equal(['joining', '1, about 1 s', '1, about 0 s']);
      for (const { subscription } of [holder, queue, last]) subscription.unsubscribe();
    }),
  );

  it(
    'counts readers in its position, and shares one watch with other claims of the same client',
    onStages(async (stage) => {
      const reader = await join(stage, stage.client(), { mode: 'shared' });
      const writer = await join(stage, stage.client());
      const before = stage.server.watcherCount;
      const client = stage.client();
      const queues = [
        await stand(stage, { mode: 'shared' }, client),
        await stand(stage, { mode: 'shared' }, client),
      ];
      expect(queues.map(({ last }) => asText(last))).to.deep.equal(['2', '3']);
      // Each of the client's two waiters has one subscription for its turns. The two share one subscription for the queue.
      expect(stage.server.watcherCount - before).to.equal(3);
      for (const { subscription } of [reader, writer, ...queues]) subscription.unsubscribe();
    }),
  );

  it(
    'reads the queue only while the claim waits, and only if the caller requests positions',
    onStages(async (stage) => {
      const holder = await stand(stage);
      const withHolder = stage.server.watcherCount;
      const waiter = await join(stage, stage.client());
      const withWaiter = stage.server.watcherCount;
      const queue = await stand(stage);
      const withLine = stage.server.watcherCount;
      for (const { subscription } of [holder, waiter]) subscription.unsubscribe();
      await stage.settle();
      expect([withHolder, withWaiter, withLine, stage.server.watcherCount]).to.deep.equal([1, 2, 4, 1]);
      expect(queue.last.status).to.equal('held');
      queue.subscription.unsubscribe();
    }),
  );

  it(
    'reads the queue at most four times a second, even if another observer requests every change',
    onStages(async (stage) => {
      const requested: (ObserveOptions | undefined)[] = [];
      const spoil = (backend: Backend): Backend => ({
        ...backend,
        observe: (queue, reading) =>
          defer(() => {
            requested.push(reading);
            return backend.observe(queue, reading);
          }),
      });
      const holder = await join(stage, stage.client());
      const client = stage.client({ spoil });
      const all = client.watch('x').subscribe();
      const queues = [await stand(stage, {}, client), await stand(stage, {}, client)];
      expect(requested).to.deep.equal([undefined, { apartMs: 250 }]);
      all.unsubscribe();
      for (const { subscription } of [holder, ...queues]) subscription.unsubscribe();
    }),
  );

  it(
    'emits its position again, with a new id, after a claim with the option steal has overtaken it',
    onStages(async (stage) => {
      const holder = await join(stage, stage.client());
      const queue = await stand(stage);
      const stealer = await join(stage, stage.client(), { steal: { reason: 'a test' } });
      await stage.until('it has joined again', () => queue.states.length > 2);
      expect(queue.states.map(asText)).to.deep.equal(['joining', '1', '1']);
      const ids = queue.states.map((state) => ('id' in state ? state.id : undefined));
      expect(new Set(ids).size).to.equal(3);
      for (const { subscription } of [holder, queue, stealer]) subscription.unsubscribe();
    }),
  );

  it(
    'rejects when the store refuses to let the client read the queue, and leaves no entry',
    onStages(async (stage) => {
      const holder = await join(stage, stage.client());
      const refused$ = throwError(() => new QueueLockError('ACCESS_DENIED', 'no right to read'));
      const blind = stage.client({ spoil: (backend) => ({ ...backend, observe: () => refused$ }) });
      const queue = await stand(stage, {}, blind);
      expect(queue.statuses).to.deep.equal(['joining', 'ended']);
      expect(queue.last)
        .to.have.nested.property('error.message')
        .that.includes('claimWithPosition needs to read the queue');
      const refusal = rejection(blind.acquire('x', { onPosition: () => undefined }));
      expect(await stage.passing(refusal)).to.include({ code: 'ACCESS_DENIED' });
      expect(stage.server.entryCount).to.equal(1);
      holder.subscription.unsubscribe();
    }),
  );
});

describe('a loop over a claim with its position', () => {
  it(
    'skips to the latest state when it is slow, and releases the lock when it ends',
    onStages(async (stage) => {
      const holder = await join(stage, stage.client());
      const seen: string[] = [];
      const loop = (async () => {
        for await (const state of stage.client().claimWithPosition('x')) {
          seen.push(asText(state));
          if (state.status !== 'held') continue;
          // The body of the loop takes a second. After that, the iterator returns the latest state, and skips
          // the states in between.
          await stage.clock.advance(1_000);
          break;
        }
        return stage.server.entryCount;
      })();
      await stage.settle();
      holder.subscription.unsubscribe();
      expect(await stage.passing(loop)).to.equal(0);
      expect(seen).to.deep.equal(['joining', '1', 'held']);
    }),
  );

  it(
    'leaves the queue when its body throws, and completes when the claim has ended',
    onStages(async (stage) => {
      const holder = await join(stage, stage.client());
      const thrown = (async () => {
        for await (const state of stage.client().claimWithPosition('x'))
          if (state.status === 'queued') throw new Error('enough');
      })();
      expect(await stage.passing(rejection(thrown))).to.have.property('message', 'enough');
      await stage.settle();
      expect(stage.server.entryCount).to.equal(1);
      const seen: string[] = [];
      const timedOut = (async () => {
        for await (const state of stage.client().claimWithPosition('x', { timeoutMs: 500 }))
          seen.push(asText(state));
      })();
      await stage.passing(timedOut);
      expect(seen).to.deep.equal(['joining', '1', 'ended']);
      holder.subscription.unsubscribe();
    }),
  );
});

describe('the callback onPosition', () => {
  it(
    'is called by acquire and run while they wait, and never when the lock is free',
    onStages(async (stage) => {
      const positions: string[] = [];
      const onPosition = (position: QueuePosition): void => void positions.push(asText(position));
      const first = await stage.client().acquire('x', { onPosition });
      const second = stage
        .client()
        .run('x', () => positions.push('works'), { onPosition, typicalHoldMs: 3_000 });
      await stage.settle();
      await stage.passing(first.release());
      await stage.passing(second);
      expect(positions).to.deep.equal(['1, about 3 s', 'works']);
    }),
  );

  it(
    'ends the wait when it throws',
    onStages(async (stage) => {
      const holder = await join(stage, stage.client());
      const onPosition = (): never => {
        throw new Error('no screen');
      };
      const failed = rejection(stage.client().acquire('x', { onPosition }));
      expect(await stage.passing(failed)).to.have.property('message', 'no screen');
      await stage.settle();
      expect(stage.server.entryCount).to.equal(1);
      holder.subscription.unsubscribe();
    }),
  );
});

describe('the announced duration of holds', () => {
  it(
    "after the client's first hold, is the duration of that hold instead of typicalHoldMs",
    onStages(async (stage) => {
      const client = stage.client();
      const announced = async (): Promise<unknown> => {
        const hold = await client.acquire('x', { typicalHoldMs: 7_000 });
        const { value } = stage.server.queues().get('x')![0]!;
        await stage.clock.advance(400);
        await stage.passing(hold.release());
        return (JSON.parse(value) as { typicalHoldMs: unknown }).typicalHoldMs;
      };
      expect([await announced(), await announced()]).to.deep.equal([7_000, 400]);
    }),
  );
});
