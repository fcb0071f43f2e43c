import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { watchPosition, type QueuePosition } from '../src/index.ts';
import { join, onStage, type Stage } from './stage.ts';

interface Observed {
  readonly places: readonly QueuePosition[];
  readonly isOver: boolean;
  readonly subscription: Subscription;
}

/** Observes, with another client, the entry with this id in the queue `x`. Records the positions of the entry. */
async function positionsOf(stage: Stage, id: string, appearsWithinMs = 100): Promise<Observed> {
  const places: QueuePosition[] = [];
  let isOver = false;
  const position$ = watchPosition(stage.client(), 'x', { id, appearsWithinMs, clock: stage.clock });
  const subscription = position$.subscribe({
    next: (position) => places.push(position),
    complete: () => (isOver = true),
  });
  await stage.settle();
  return {
    places,
    subscription,
    get isOver() {
      return isOver;
    },
  };
}

const idAt = (stage: Stage, at: number): string => stage.server.queues().get('x')![at]!.id;
const UNKNOWN_ID = 'f'.repeat(32);

describe("the stream of the position of any client's entry", () => {
  const onStages = (scene: (stage: Stage) => Promise<void>) => () => onStage(scene);

  it(
    'counts down to 0 while entries ahead leave, and completes when the entry is removed',
    onStages(async (stage) => {
      const queue = [
        await join(stage, stage.client()),
        await join(stage, stage.client()),
        await join(stage, stage.client()),
      ];
      const reported = await positionsOf(stage, idAt(stage, 2));
      for (const at of [1, 0, 2]) {
        queue[at]!.subscription.unsubscribe();
        await stage.clock.advance(250);
      }
      expect(reported.places.map(({ position }) => position)).to.deep.equal([2, 1, 0]);
      expect(reported.isOver).to.equal(true);
    }),
  );

  it(
    'completes when the session of the entry ends',
    onStages(async (stage) => {
      await join(stage, stage.client());
      const reported = await positionsOf(stage, idAt(stage, 0));
      stage.server.expireSession(stage.server.queues().get('x')![0]!.sessionId);
      await stage.clock.advance(250);
      expect(reported.isOver).to.equal(true);
    }),
  );

  it(
    'completes when the entry was absent for 100 ms, even if other entries join and leave meanwhile',
    onStages(async (stage) => {
      const reported = await positionsOf(stage, UNKNOWN_ID);
      const busy = await join(stage, stage.client());
      await stage.clock.advance(99);
      busy.subscription.unsubscribe();
      await stage.settle();
      expect(reported.isOver).to.equal(false);
      await stage.clock.advance(1);
      expect([reported.places, reported.isOver]).to.deep.equal([[], true]);
    }),
  );

  it(
    'counts an entry that another program created ahead as one entry',
    onStages(async (stage) => {
      const foreign = await join(stage, stage.client(), { value: 'foreign' });
      await join(stage, stage.client());
      const reported = await positionsOf(stage, idAt(stage, 1));
      expect(reported.places[0]).to.include({ position: 1 });
      foreign.subscription.unsubscribe();
      reported.subscription.unsubscribe();
    }),
  );

  it(
    'is not returned if an argument of watchPosition is invalid: the call throws',
    onStages(async (stage) => {
      const client = stage.client();
      expect(() => watchPosition(client, '', { id: 'x' })).to.throw('name');
      expect(() => watchPosition(client, 'x', {} as never)).to.throw('id is a string');
      expect(() => watchPosition(client, 'x', { id: 'x', appearsWithinMs: -1 })).to.throw('appearsWithinMs');
      expect(() => watchPosition(client, 'x', { id: 'x', typicalHoldMs: -1 })).to.throw('typicalHoldMs');
      expect(() => watchPosition(client, 'x', { id: 'x', appearsWithin: 1 } as never)).to.throw(
        'did you mean appearsWithinMs',
      );
    }),
  );
});
