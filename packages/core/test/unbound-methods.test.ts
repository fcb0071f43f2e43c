import { expect } from 'chai';
import { firstValueFrom } from 'rxjs';
import type { Hold } from '../src/index.ts';
import { onStage, type Stage } from './stage.ts';

type Taking = (stage: Stage) => Promise<Hold>;

const HOLDS: Readonly<Record<string, Taking>> = {
  'a lock': (stage) => stage.client().acquire('x'),
  'a lock that may be entered again': (stage) => stage.client().acquire('x', { reentrant: true }),
  'several locks': (stage) => stage.client().multi(['x', 'y']).acquire(),
};

describe('methods that a caller has destructured from their object', () => {
  for (const [what, take] of Object.entries(HOLDS)) {
    it(`include throwIfLost and release of ${what}, and work without the object`, () =>
      onStage(async (stage) => {
        const { throwIfLost, release, signal } = await stage.passing(take(stage));
        throwIfLost(1_000);
        expect(() => throwIfLost(1e9))
          .to.throw()
          .with.property('code', 'NOT_ENOUGH_TIME');
        await stage.passing(release());
        expect(() => throwIfLost())
          .to.throw()
          .with.property('code', 'OWNERSHIP_LOST');
        expect(signal.aborted).to.equal(false);
        expect(stage.server.entryCount).to.equal(0);
      }));
  }

  it('include update and downgrade of a hold, and work without the object', () =>
    onStage(async (stage) => {
      for (const reentrant of [false, true]) {
        const ownership = await stage.passing(stage.client().acquire(`x${reentrant}`, { reentrant }));
        const { update, downgrade } = ownership;
        await stage.passing(update({ metadata: { step: '2' } }));
        await stage.passing(downgrade());
        expect(ownership.shared).to.equal(true);
        await stage.passing(ownership.release());
      }
    }));

  it('include those of a multi-lock and of a handover request, and work without the object', () =>
    onStage(async (stage) => {
      const { of, release } = await stage.passing(stage.client().multi(['x', 'y']).acquire());
      const request = { reason: 'a test', withinMs: 1_000 };
      const next = stage.client().acquire('x', { request });
      const { decline, yieldToQueue } = (await stage.passing(
        firstValueFrom(of('x').requests$, { defaultValue: undefined }),
      ))!;
      await stage.passing(decline('not yet'));
      await stage.passing(yieldToQueue());
      expect((await stage.passing(next)).held).to.equal(true);
      await stage.passing(release());
    }));
});
