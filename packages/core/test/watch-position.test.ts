import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { watchPosition, type QueuePosition } from '../src/index.ts';
import { join, onStage, type Stage } from './stage.ts';

interface Observed {
  readonly places: readonly QueuePosition[];
  readonly isOver: boolean;
  readonly subscription: Subscription;
}

/** Returns the positions of an entry as another client sees them. */
async function positionsOf(stage: Stage, id: string, appearsWithinMs = 100): Promise<Observed> {
  const places: QueuePosition[] = [];
  let isOver = false;
  const place$ = watchPosition(stage.client(), 'x', { id, appearsWithinMs, clock: stage.clock });
  const subscription = place$.subscribe({
    next: (place) => places.push(place),
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
const NOBODY = 'f'.repeat(32);

describe('the position of an entry for any observer', () => {
  const onStages = (scene: (stage: Stage) => Promise<void>) => () => onStage(scene);

  it(
    'counts down to 0 while other entries leave, and completes when the entry is removed',
    onStages(async (stage) => {
      const line = [
        await join(stage, stage.client()),
        await join(stage, stage.client()),
        await join(stage, stage.client()),
      ];
      const told = await positionsOf(stage, idAt(stage, 2));
      for (const at of [1, 0, 2]) {
        line[at]!.subscription.unsubscribe();
        await stage.clock.advance(250);
      }
      expect(told.places.map(({ position }) => position)).to.deep.equal([2, 1, 0]);
      expect(told.isOver).to.equal(true);
    }),
  );

  it(
    'completes when the session of the entry ends',
    onStages(async (stage) => {
      await join(stage, stage.client());
      const told = await positionsOf(stage, idAt(stage, 0));
      stage.server.expireSession(stage.server.queues().get('x')![0]!.sessionId);
      await stage.clock.advance(250);
      expect(told.isOver).to.equal(true);
    }),
  );

  it(
    'completes when the entry does not appear, however busy the queue is',
    onStages(async (stage) => {
      const told = await positionsOf(stage, NOBODY);
      const busy = await join(stage, stage.client());
      await stage.clock.advance(99);
      busy.subscription.unsubscribe();
      await stage.settle();
      expect(told.isOver).to.equal(false);
      await stage.clock.advance(1);
      expect([told.places, told.isOver]).to.deep.equal([[], true]);
    }),
  );

  it(
    'counts an entry of another kind as one that takes one permit',
    onStages(async (stage) => {
      const foreign = await join(stage, stage.client(), { value: 'foreign' });
      await join(stage, stage.client());
      const told = await positionsOf(stage, idAt(stage, 1));
      expect(told.places[0]).to.include({ position: 1 });
      foreign.subscription.unsubscribe();
      told.subscription.unsubscribe();
    }),
  );

  it(
    'is refused at the call with invalid arguments',
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
