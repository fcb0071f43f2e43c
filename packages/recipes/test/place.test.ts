import { createLockClient, type ClaimState, type LockClient } from '@queuelock/core';
import {
  createMemoryServer,
  memory,
  virtualClock,
  type MemoryServer,
  type VirtualClock,
} from '@queuelock/memory';
import { expect } from 'chai';
import type { Subscription } from 'rxjs';
import { placeOf, type Place } from '../src/place.ts';
import { follow } from './frame.ts';
import { MemoryLine } from './memory-store.ts';

type Known = Exclude<Place, { status: 'connecting' }>;

describe('a place in the queue', () => {
  let clock: VirtualClock;
  let server: MemoryServer;
  let client: LockClient;
  let claims: Subscription[];

  beforeEach(() => {
    clock = virtualClock();
    server = createMemoryServer({ clock });
    client = createLockClient(memory({ server }), { clock });
    claims = [];
  });

  afterEach(async () => {
    for (const claim of claims) claim.unsubscribe();
    await client.close();
    expect([server.entryCount, server.watcherCount]).to.deep.equal([0, 0]);
  });

  /** Joins; answers the entry's id and what ends the claim. */
  async function join(
    options: Parameters<LockClient['claim']>[1] = {},
  ): Promise<{ readonly id: string; readonly leave: () => Promise<void> }> {
    const followed = follow(client.claim('x', options));
    claims.push(followed.subscription);
    await clock.advance(0);
    return {
      id: idIn(followed.last!),
      leave: async () => {
        followed.stop();
        await clock.advance(0);
      },
    };
  }

  it('counts down while others leave, and completes when the entry is gone', async () => {
    const lines = [await join(), await join(), await join()];
    const place = follow(placeOf(client, 'x', { id: lines[2]!.id, clock }));
    await clock.advance(0);
    await lines[1]!.leave();
    await lines[0]!.leave();
    expect(place.end).to.equal(undefined);
    await lines[2]!.leave();
    expect(place.values.map(brief)).to.deep.equal(['connecting', '2 behind 2', '1 behind 1', '0 behind 0']);
    expect(place.end).to.equal('complete');
  });

  it('does not count readers together with readers', async () => {
    await join({ mode: 'shared' });
    await join();
    await join({ mode: 'shared' });
    const reader = await join({ mode: 'shared' });
    const place = follow(placeOf(client, 'x', { id: reader.id, clock }));
    await clock.advance(0);
    // The writer waits, and the reader behind it.
    expect(brief(place.last!)).to.equal('2 behind 1');
    place.stop();
  });

  it('expects what it has seen of other holds, less what the present one has used', async () => {
    const holder = await join();
    const [first, second, third] = [await join(), await join(), await join()];
    const seen = follow(placeOf(client, 'x', { id: third.id, clock }));
    await clock.advance(30);
    await holder.leave();
    const basis = { announced: 0, seen: 0, unknown: 0 };
    expect((seen.last as Known).expectedWaitMs, 'a hold whose beginning was not seen').to.equal(undefined);
    expect((seen.last as Known).basis).to.deep.equal({ ...basis, unknown: 2 });
    await clock.advance(100);
    await first.leave();
    expect((seen.last as Known).expectedWaitMs).to.equal(100);
    expect((seen.last as Known).basis).to.deep.equal({ ...basis, seen: 1 });
    await clock.advance(40);
    const { leave } = await join();
    expect((seen.last as Known).expectedWaitMs).to.equal(60);
    await leave();
    await second.leave();
    expect((seen.last as Known).expectedWaitMs).to.equal(0);
    seen.stop();
  });

  it('is stale while the server cannot be reached, as last known', async () => {
    const line = new MemoryLine(server);
    const other = createLockClient(line.connect(), { clock });
    const [, second] = [await join(), await join()];
    const place = follow(placeOf(other, 'x', { id: second.id, clock }));
    await clock.advance(0);
    line.cut();
    await clock.advance(0);
    expect([place.last!.status, brief(place.last!)]).to.deep.equal(['stale', '1 behind 1']);
    await line.mend();
    await clock.advance(1_000);
    expect([place.last!.status, brief(place.last!)]).to.deep.equal(['live', '1 behind 1']);
    await other.close();
    expect(place.end).to.equal('complete');
  });

  it('completes when its session ends', async () => {
    const { id } = await join();
    const other = createLockClient(memory({ server }), { clock });
    const place = follow(placeOf(other, 'x', { id, clock }));
    await clock.advance(0);
    expect(brief(place.last!)).to.equal('0 behind 0');
    server.expireSession(server.queues().get('x')![0]!.sessionId);
    await clock.advance(0);
    expect(place.end).to.equal('complete');
    await other.close();
  });

  it('completes when the entry does not appear, however busy the queue is', async () => {
    const place = follow(placeOf(client, 'x', { id: 'f'.repeat(32), appearsWithinMs: 100, clock }));
    for (let i = 0; i < 3; i += 1) {
      await clock.advance(30);
      await (await join()).leave();
    }
    expect([place.values.map(brief), place.end]).to.deep.equal([['connecting', 'connecting'], undefined]);
    await clock.advance(10);
    expect(place.end).to.equal('complete');
  });

  it('waits for an entry that appears late', async () => {
    const place = follow(placeOf(client, 'x', { id: 'f'.repeat(32), appearsWithinMs: 100, clock }));
    await clock.advance(99);
    const session = await memory({ server }).open(10_000, new AbortController().signal);
    const value = JSON.stringify({ owner: 'late', id: 'f'.repeat(32) });
    await session.enqueue({ queue: 'x', id: 'f'.repeat(32), shared: false, limit: 1, value });
    await clock.advance(1_000);
    expect([brief(place.last!), place.end]).to.deep.equal(['0 behind 0', undefined]);
    await session.close();
    await clock.advance(0);
    expect(place.end).to.equal('complete');
  });

  it('counts entries of other kinds as holds of one permit', async () => {
    const session = await memory({ server }).open(10_000, new AbortController().signal);
    await session.enqueue({ queue: 'x', id: 'f'.repeat(32), shared: false, limit: 1, value: 'foreign' });
    const { id } = await join();
    const followed = follow(placeOf(client, 'x', { id, clock }));
    const place = followed.last as Known;
    followed.stop();
    expect([place.position, place.ahead.map(({ owner }) => owner)]).to.deep.equal([1, ['foreign']]);
    await session.close();
  });

  it('refuses what makes no sense at the call', () => {
    expect(() => placeOf(client, '', { id: 'x' })).to.throw('name');
    expect(() => placeOf(client, 'x', { id: 'x', appearsWithinMs: -1 })).to.throw('appearsWithinMs');
  });
});

function idIn(state: ClaimState): string {
  if (state.status === 'queued') return state.id;
  if (state.status === 'held') return state.ownership.id;
  throw new Error(`${state.status}: ${String('error' in state ? state.error : '')}`);
}

function brief(place: Place): string {
  return place.status === 'connecting' ? place.status : `${place.position} behind ${place.ahead.length}`;
}
