import { expect } from 'chai';
import { virtualClock } from '@queuelock/memory';
import { readings } from '../src/kit/readings.ts';

/**
 * A store with one value, which the test changes. Records when the value was read, and which values the reads
 * emitted.
 */
class Stage {
  readonly clock = virtualClock();
  /** The times at which reads of the stored value started. */
  readonly begun: number[] = [];
  readonly seen: (number | string)[] = [];
  present = 0;
  change = (): void => undefined;
  refuse = (_error: unknown): void => undefined;
  followers = 0;

  readState(more: { readonly pauseMs?: number; readonly againAfterMs?: number }) {
    return readings({
      clock: this.clock,
      read: async () => (this.begun.push(this.clock.now()), this.present),
      follow: (changed, refused) => {
        [this.change, this.refuse] = [changed, refused];
        this.followers += 1;
        changed();
        return () => (this.followers -= 1);
      },
      ...more,
    }).subscribe({
      next: (value) => this.seen.push(value),
      error: (error: unknown) => this.seen.push(String(error)),
    });
  }
}

describe('reads of a value in the store', () => {
  let stage: Stage;

  beforeEach(() => {
    stage = new Stage();
  });

  it('start no more often than their minimum interval allows, and emit the latest value', async () => {
    const read = stage.readState({ pauseMs: 250 });
    // Blocks the event loop for `ms` milliseconds, so that timers run late.
    const late = (ms: number): Promise<void> => {
      stage.clock.stall(ms);
      return stage.clock.advance(0);
    };
    await stage.clock.advance(0);
    for (stage.present = 1; stage.present < 10; stage.present += 1) {
      stage.change();
      await late(100);
    }
    stage.change();
    await late(250);
    read.unsubscribe();
    expect(stage.begun).to.deep.equal([0, 300, 600, 900, 1150]);
    expect(stage.seen).to.deep.equal([0, 3, 6, 9, 10]);
  });

  it('are repeated once when the value changes during a read, and emit no value twice', async () => {
    stage.readState({});
    for (let nth = 0; nth < 3; nth += 1) stage.change();
    await stage.clock.advance(0);
    expect([stage.begun, stage.seen]).to.deep.equal([[0, 0], [0]]);
  });

  it('are repeated after an interval without notifications', async () => {
    stage.readState({ againAfterMs: 1_000 });
    await stage.clock.advance(0);
    stage.present = 1;
    await stage.clock.advance(999);
    expect(stage.seen).to.deep.equal([0]);
    await stage.clock.advance(1);
    expect(stage.seen).to.deep.equal([0, 1]);
  });

  it('end with an error when the notifications fail, and stop when the observer unsubscribes', async () => {
    stage.readState({ againAfterMs: 1_000 });
    await stage.clock.advance(0);
    stage.refuse(new Error('refused'));
    await stage.clock.advance(1_000);
    expect([stage.seen, stage.begun, stage.followers]).to.deep.equal([[0, 'Error: refused'], [0], 0]);
  });
});
