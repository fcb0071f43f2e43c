import type { LockClient, QueueState } from '@queuelock/core';
import { expect } from 'chai';
import { BehaviorSubject } from 'rxjs';
import type { ContendEvent } from '../src/contend/event.ts';
import { direct } from '../src/demo/director.ts';
import type { HistoryEvent } from '../src/demo/history.ts';
import type { Actor, Stage } from '../src/demo/stage.ts';

describe('the scripted run of queuelock demo', () => {
  it('kills the contender that is to crash even when all other contenders have ended', async () => {
    let t = 0;
    const stamp = (): string => String((t += 1));
    const queue$ = new BehaviorSubject<QueueState>({ status: 'live', name: 'q', entries: [] });
    const others: Promise<void>[] = [];
    /** A fake contender that holds the lock as soon as no other contender holds it. */
    async function live(
      id: string,
      emit: (event: ContendEvent) => void,
      death: Promise<void>,
    ): Promise<void> {
      if (id === 'c2')
        await Promise.all(await new Promise<Promise<void>[]>((go) => setTimeout(go, 400, others)));
      const reports = (ev: ContendEvent['ev']): void =>
        emit({ t: stamp(), id, ev, name: 'q', n: 1, key: id, token: id.slice(1) });
      for (const ev of ['requesting', 'enqueued', 'acquired'] as const) reports(ev);
      if (id === 'c2') await death;
      else reports('released');
    }
    const stage: Stage = {
      storeLabel: 'here',
      detectsDeath: true,
      observer: { watch: () => queue$ } as Partial<LockClient> as LockClient,
      enter({ id }, emit): Actor {
        let crash: () => void = () => undefined;
        const death = new Promise<void>((resolve) => (crash = resolve));
        const ended = live(id, emit, death);
        if (id !== 'c2') others.push(ended);
        return {
          id,
          provenUntil: undefined,
          leave: () => undefined,
          crash: () => {
            crash();
            queue$.next(queue$.value);
            setTimeout(() => queue$.next(queue$.value));
          },
          ended,
        };
      },
      close: async () => undefined,
    };
    const history: HistoryEvent[] = [];
    await direct({
      stage,
      script: { name: 'q', contenders: 3, rounds: 1, holdMs: 1 },
      stamp,
      emit: (event) => history.push(event),
      onJoin: () => undefined,
      onQueue: () => undefined,
      stop: AbortSignal.timeout(60_000),
    });
    expect(history.slice(-2).map(({ id, ev }) => `${id} ${ev}`)).to.deep.equal(['c2 crashed', 'c2 expired']);
  });
});
