import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { watchPosition, type QueuePosition } from '../src/index.ts';
import { join, onStage, type Stage } from './stage.ts';

interface Told {
  readonly places: readonly QueuePosition[];
  readonly isOver: boolean;
  readonly subscription: Subscription;
}

/** The place of an entry as somebody else sees it. */
async function placesOf(stage: Stage, id: string, appearsWithinMs = 100): Promise<Told> {
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

describe('the place of an entry, as anybody sees it', () => {
  const onStages = (scene: (stage: Stage) => Promise<void>) => () => onStage(scene);

  it(
    'counts down to 0 while others leave, and is over when the entry is gone',
    onStages(async (stage) => {
      const line = [
        await join(stage, stage.client()),
        await join(stage, stage.client()),
        await join(stage, stage.client()),
      ];
      const told = await placesOf(stage, idAt(stage, 2));
      for (const at of [1, 0, 2]) {
        line[at]!.subscription.unsubscribe();
        await stage.clock.advance(250);
      }
      expect(told.places.map(({ position }) => position)).to.deep.equal([2, 1, 0]);
      expect(told.isOver).to.equal(true);
    }),
  );

  it(
    'is over when the session of the entry ends',
    onStages(async (stage) => {
      await join(stage, stage.client());
      const told = await placesOf(stage, idAt(stage, 0));
      stage.server.expireSession(stage.server.queues().get('x')![0]!.sessionId);
      await stage.clock.advance(250);
      expect(told.isOver).to.equal(true);
    }),
  );

  it(
    'is over when the entry does not appear, however busy the queue is',
    onStages(async (stage) => {
      const told = await placesOf(stage, NOBODY);
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
    'is of an entry of another kind what it is of others: such a one holds one permit',
    onStages(async (stage) => {
      const foreign = await join(stage, stage.client(), { value: 'foreign' });
      await join(stage, stage.client());
      const told = await placesOf(stage, idAt(stage, 1));
      expect(told.places[0]).to.include({ position: 1 });
      foreign.subscription.unsubscribe();
      told.subscription.unsubscribe();
    }),
  );

  it(
    'is refused at the call where it makes no sense',
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
