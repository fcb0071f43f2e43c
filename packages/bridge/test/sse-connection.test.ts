import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { Subject, of } from 'rxjs';
import { EventParser } from '../src/client/event-parser.ts';
import { BytesInFlight } from '../src/limits/bytes-in-flight.ts';
import { Encoder } from '../src/stream/encoder.ts';
import { Feed, type FeedTools } from '../src/stream/feed.ts';
import { SseConnection } from '../src/stream/sse-connection.ts';

/**
 * Makes a feed whose snapshots contain one number. The result also counts how often a snapshot was encoded.
 */
function feedOf(clock: VirtualClock, nextVersion: FeedTools['nextVersion'], name = 'q') {
  const changed$ = new Subject<void>();
  const made = { draws: 0, value: 0 };
  const draw = (): object => ({ drawn: (made.draws += 1), value: made.value });
  const source = { changed$, encode: () => [JSON.stringify(draw())], close: () => changed$.complete() };
  const feed = new Feed({ kind: 'queue', name }, source, { clock, paceMs: 50, epoch: 'e', nextVersion });
  const set = (value: number): void => {
    made.value = value;
    changed$.next();
  };
  return { feed, set, made };
}

function counting(): () => number {
  let version = 0;
  return () => (version += 1);
}

function text(chunk: Uint8Array | undefined): string {
  return new TextDecoder().decode(chunk);
}

describe('the connection of a stream', () => {
  let clock: VirtualClock;
  let ends: number;
  let encoder: Encoder;
  let inFlight: BytesInFlight;
  const connection = (client = 'client'): SseConnection =>
    new SseConnection({
      ...{ clock, heartbeatMs: 5_000, stuckMs: 30_000, client, encoder, inFlight },
      onEnd: () => (ends += 1),
    });

  beforeEach(() => {
    clock = virtualClock();
    ends = 0;
    encoder = new Encoder({ clock, cachedBytes: 1_000_000 });
    inFlight = new BytesInFlight({ perClient: 100_000, perBridge: 250_000 });
  });

  it('sends the first change without delay, and only the latest of the changes within the next interval', async () => {
    const { feed, set, made } = feedOf(clock, counting());
    const reports: number[] = [];
    feed.read(() => {
      if (feed.event) return;
      reports.push(clock.now());
      encoder.schedule(feed, 'client');
    });
    for (let value = 0; value < 10; value += 1) set(value);
    await clock.advance(1_000);
    expect(reports).to.deep.equal([0, 50]);
    expect(made.draws).to.equal(2);
    feed.close();
  });

  it('encodes a snapshot once for a thousand clients', () => {
    const { feed, set, made } = feedOf(clock, counting());
    const events = new Set<Uint8Array>();
    for (let reader = 0; reader < 1_000; reader += 1)
      feed.read(() => {
        if (feed.event) events.add(feed.event);
        else encoder.schedule(feed, `client ${String(reader)}`);
      });
    set(1);
    expect([made.draws, events.size]).to.deep.equal([1, 1]);
    feed.close();
  });

  it('sends a client that reads slowly the latest snapshot, and skips the earlier ones', async () => {
    const { feed, set, made } = feedOf(clock, counting());
    const slow = connection();
    feed.read(slow.onSnapshot);
    const reader = slow.stream.getReader();
    for (let value = 1; value <= 100; value += 1) {
      set(value);
      await clock.advance(100);
    }
    expect(made.draws, 'snapshots made for nobody').to.equal(0);
    expect(text((await reader.read()).value)).to.contain('"value":100');
    expect(made.draws).to.equal(1);
    slow.close();
    feed.close();
  });

  it('sends topics in the order of their latest changes, the oldest change first', async () => {
    const nextVersion = counting();
    const one = feedOf(clock, nextVersion, 'one');
    const two = feedOf(clock, nextVersion, 'two');
    const client = connection();
    for (const { feed } of [one, two]) feed.read(client.onSnapshot);
    one.set(1);
    two.set(1);
    await clock.advance(100);
    one.set(2);
    const reader = client.stream.getReader();
    const ids: (string | undefined)[] = [];
    for (let n = 0; n < 2; n += 1) {
      const read = reader.read();
      await clock.advance(1);
      ids.push(/^id: (.*)$/m.exec(text((await read).value))?.[1]);
    }
    expect(ids).to.deep.equal(['e.2', 'e.3']);
    client.close();
  });

  it('sends any text as data of an event, including line ends, markup and lone surrogates', async () => {
    const hostile = '\r\n\nevent: state\ndata: {}\n\n</script>\u2028\u0000\ud800';
    const encode = (): string[] => [JSON.stringify({ hostile })];
    const source = { changed$: of(undefined), encode, close: () => undefined };
    const feed = new Feed({ kind: 'queue', name: hostile }, source, {
      clock,
      paceMs: 50,
      epoch: 'e',
      nextVersion: counting(),
    });
    encoder.schedule(feed, 'client');
    const events = new EventParser().push(text(feed.event));
    expect(events).to.have.lengthOf(1);
    expect(JSON.parse(events[0]!.data)).to.deep.equal({
      topic: JSON.stringify(['queue', hostile]),
      snapshot: { hostile },
    });
    feed.close();
  });

  it('sends heartbeats while nothing changes', async () => {
    const client = connection();
    const reader = client.stream.getReader();
    const read = reader.read();
    await clock.advance(5_000);
    expect(text((await read).value)).to.equal(':\n\n');
    client.close();
    expect(clock.timerCount).to.equal(0);
  });

  it('disconnects a client that reads nothing for `stuckMs`', async () => {
    const client = connection();
    const reader = client.stream.getReader();
    client.sendText('event: hello\ndata: {}\n\n');
    await reader.read();
    await clock.advance(36_000);
    expect(ends).to.equal(1);
    const error: unknown = await reader.read().catch((thrown: unknown) => thrown);
    expect(String(error)).to.contain('the client read nothing');
    expect(clock.timerCount).to.equal(0);
  });

  it('calls `onEnd` once, whether the client or the bridge ends it first', async () => {
    const client = connection();
    await client.stream.cancel();
    client.close();
    expect([ends, clock.timerCount]).to.deep.equal([1, 0]);
  });
});
