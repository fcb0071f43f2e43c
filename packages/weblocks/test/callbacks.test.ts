import { expect } from 'chai';
import { Callbacks } from '../src/callbacks.ts';

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the order in which a lock manager runs callbacks', () => {
  it('is the order of the requests, even if the grants arrive in another order', async () => {
    const callbacks = new Callbacks();
    const ran: number[] = [];
    const waiting = ['a', 'b', undefined, 'a'].map((name) => callbacks.enter(name));
    for (const i of [3, 1, 2, 0]) waiting[i]!.ready(() => ran.push(i));
    expect(ran).to.deep.equal([]);
    await nextTurn();
    expect(ran).to.deep.equal([0, 1, 2, 3]);
  });

  it('makes a callback wait only for earlier callbacks of the same lock', async () => {
    const callbacks = new Callbacks();
    const ran: string[] = [];
    const [first, other, second, third] = ['a', 'b', 'a', 'a'].map((name) => callbacks.enter(name));
    third!.ready(() => ran.push('third'));
    second!.ready(() => ran.push('second'));
    other!.ready(() => ran.push('other'));
    await nextTurn();
    expect(ran).to.deep.equal(['other']);
    first!.leave();
    await nextTurn();
    expect(ran).to.deep.equal(['other', 'second', 'third']);
  });

  it('does not apply to requests with steal or ifAvailable', async () => {
    const callbacks = new Callbacks();
    const ran: string[] = [];
    callbacks.enter('a');
    callbacks.enter(undefined).ready(() => ran.push('thief'));
    const gone = callbacks.enter('b');
    gone.ready(() => ran.push('gone'));
    gone.leave();
    await nextTurn();
    expect(ran).to.deep.equal(['thief']);
  });
});
