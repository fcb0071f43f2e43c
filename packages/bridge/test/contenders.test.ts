import { AsyncLocalStorage } from 'node:async_hooks';
import { QueueLockError } from '@queuelock/core';
import { expect } from 'chai';
import { Subject } from 'rxjs';
import type { Contenders } from '../src/index.ts';
import type { ContendersAct, ContendersSnapshot, Refusal } from '../src/wire.ts';
import { programAt, seen, stage } from './stage.ts';

const NOBODY: ReturnType<Contenders['draw']> = {
  maxContenders: 8,
  ttlMs: 3_000,
  cut: 'how',
  canCut: true,
  contenders: [],
  happenings: [],
};

/**
 * Makes a fake of the contenders, the demo programs that pages show. It records the actions that pages apply
 * to them.
 */
function contenders(acts: ContendersAct[] = []): Contenders & { readonly changed$: Subject<void> } {
  const changed$ = new Subject<void>();
  return {
    name: 'q',
    changed$,
    draw: () => ({ ...NOBODY, maxContenders: acts.length }),
    act: async (act) => {
      if (act.act === 'kill') throw new QueueLockError('INVALID_ARGUMENT', 'not this one');
      acts.push(act);
      changed$.next();
    },
  };
}

describe('the bridge with demo contenders', () => {
  it('shows the contenders and applies actions to them', async () => {
    await using s = await stage({ contenders: contenders() });
    const page = s.page();
    expect((await page.facts()).contenders).to.equal('q');
    const snapshots: ContendersSnapshot[] = [];
    const read = page.contenders('q').subscribe(({ snapshot }) => snapshot && snapshots.push(snapshot));
    await seen(page.contenders('q'), ({ snapshot }) => snapshot !== undefined);
    await page.contend({ act: 'add' });
    await seen(page.contenders('q'), ({ snapshot }) => snapshot?.maxContenders === 1);
    expect(snapshots[0]).to.include({ name: 'q', maxContenders: 0, status: 'live' });
    read.unsubscribe();
  });

  it('calls `contenders.draw` in the asynchronous context in which the bridge was created', async () => {
    const caller = new AsyncLocalStorage<string>();
    const drawn = new Set<string | undefined>();
    const own = contenders();
    const draw = (): ReturnType<Contenders['draw']> => {
      drawn.add(caller.getStore());
      return own.draw();
    };
    await using s = await caller.run('host', () => stage({ contenders: { ...own, draw } }));
    const page = s.page();
    await caller.run('visitor', () => seen(page.contenders('q'), ({ snapshot }) => snapshot !== undefined));
    caller.run('visitor', () => own.changed$.next());
    await seen(page.contenders('q'), ({ snapshot }) => snapshot !== undefined);
    expect([...drawn]).to.deep.equal(['host']);
  });

  it('responds with the reason when an action on a contender fails', async () => {
    await using s = await stage({ contenders: contenders() });
    const failure = await s
      .page()
      .contend({ act: 'kill', id: 'c1' })
      .catch((error: unknown) => error);
    expect(failure).to.include({ code: 'INVALID_ARGUMENT', message: '[INVALID_ARGUMENT] not this one' });
  });

  it('shows no contenders when the program has passed none to the bridge', async () => {
    await using s = await stage();
    const page = s.page();
    expect((await page.facts()).contenders).to.equal(undefined);
    const { refusal } = await seen(page.contenders('q'), ({ refusal }) => refusal !== undefined);
    expect(refusal).to.include({ code: 'INVALID_ARGUMENT' });
    const failure = await page.contend({ act: 'add' }).catch((error: unknown) => error);
    expect(failure).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('applies an action only when authorize allows it and a page of the bridge sends it', async () => {
    const acts: ContendersAct[] = [];
    await using s = await stage({
      contenders: contenders(acts),
      authorize: (_, { kind }) => kind !== 'contend',
    });
    const { facts, post } = await programAt(s.url);
    expect(facts).to.not.have.property('contenders');
    expect((await post('contenders', { act: 'add' })).status).to.equal(403);
    await using open = await stage({ contenders: contenders(acts) });
    const page = await programAt(open.url);
    expect((await page.post('contenders', { act: 'add' }, { 'queuelock-token': 'x' })).status).to.equal(403);
    expect(
      (await page.post('contenders', { act: 'add' }, { origin: 'http://evil.example' })).status,
    ).to.equal(403);
    expect((await page.post('contenders', { act: 'add' }, { 'content-type': 'text/plain' })).status).to.equal(
      415,
    );
    const unknown = await page.post('contenders', { act: 'explode', id: 'c1' });
    expect([unknown.status, ((await unknown.json()) as Refusal).error.code]).to.deep.equal([
      400,
      'INVALID_ARGUMENT',
    ]);
    expect(acts).to.deep.equal([]);
  });
});
