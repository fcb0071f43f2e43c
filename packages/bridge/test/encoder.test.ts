import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { Subject } from 'rxjs';
import { Encoder } from '../src/stream/encoder.ts';
import { Feed } from '../src/stream/feed.ts';

const PIECE_MS = 3;

describe('the encoder of snapshots', () => {
  let clock: VirtualClock;
  let version: number;
  let encoded: string[];
  let pieces: number[];

  /** Returns a feed with a snapshot of `count` pieces. The encoder takes 3 ms for each piece. */
  function feedOf(name: string, count: number): { readonly feed: Feed; readonly change: () => void } {
    const changed$ = new Subject<void>();
    function* encode(): Generator<string> {
      for (let piece = 0; piece < count; piece += 1) {
        clock.stall(PIECE_MS);
        pieces.push(clock.now());
        yield piece === 0 ? '"' + 'x'.repeat(100) : '';
      }
      yield '"';
    }
    const tools = { clock, paceMs: 0, epoch: 'e', nextVersion: () => (version += 1) };
    const feed = new Feed({ kind: 'queue', name }, { changed$, encode, close: () => undefined }, tools);
    feed.read(() => {
      if (feed.event) encoded.push(name);
    });
    changed$.next();
    return { feed, change: () => changed$.next() };
  }

  beforeEach(() => {
    clock = virtualClock();
    version = 0;
    encoded = [];
    pieces = [];
  });

  it('pauses after each slice of its work for as long as the slice took', async () => {
    const encoder = new Encoder({ clock, cachedBytes: 10_000 });
    encoder.schedule(feedOf('large', 100).feed, 'client');
    await clock.advance(1_000);
    expect(encoded).to.deep.equal(['large']);
    const rests = pieces.slice(1).map((at, index) => at - (pieces[index] ?? 0) - PIECE_MS);
    // The encoder pauses as soon as a slice of its work is longer than 5 ms. Encoding a piece of the snapshot
    // takes 3 ms, so each slice ends after its second piece.
    const isBounded = rests.every((rest, index) => rest > 0 || rests[index + 1] !== 0);
    expect(isBounded, JSON.stringify(rests)).to.equal(true);
    const rested = rests.reduce((sum, rest) => sum + rest, 0);
    expect(rested).to.be.at.least(PIECE_MS * 100 - 6);
  });

  it('encodes one snapshot of each client in turn', async () => {
    const encoder = new Encoder({ clock, cachedBytes: 10_000 });
    for (let n = 0; n < 10; n += 1) encoder.schedule(feedOf(`hostile ${String(n)}`, 2).feed, 'hostile');
    encoder.schedule(feedOf('ordinary', 2).feed, 'ordinary');
    await clock.advance(1_000);
    expect(encoded).to.have.lengthOf(11);
    expect(encoded.indexOf('ordinary')).to.be.at.most(2);
  });

  it('caches encoded snapshots up to the allowed number of bytes', async () => {
    const encoder = new Encoder({ clock, cachedBytes: 500 });
    const feeds = ['a', 'b', 'c', 'd', 'e'].map((name) => feedOf(name, 1).feed);
    for (const feed of feeds) encoder.schedule(feed, 'client');
    await clock.advance(1_000);
    expect(encoded).to.deep.equal(['a', 'b', 'c', 'd', 'e']);
    const kept = feeds.filter(({ event }) => event !== undefined);
    expect(kept).to.deep.equal(feeds.slice(-2));
    encoder.schedule(feeds[0]!, 'client');
    await clock.advance(10);
    expect(feeds[0]!.event).to.not.equal(undefined);
  });

  it('sends a snapshot that was superseded during its encoding, and then the newer one', async () => {
    const encoder = new Encoder({ clock, cachedBytes: 10_000 });
    const { feed, change } = feedOf('changing', 10);
    encoder.schedule(feed, 'client');
    expect(feed.event).to.equal(undefined);
    change();
    expect(feed.version).to.equal(1);
    await clock.advance(1_000);
    expect(encoded).to.deep.equal(['changing']);
    expect(feed.version).to.equal(2);
  });

  it('passes an error that a feed throws to the clients of that feed, and continues with other feeds', async () => {
    const encoder = new Encoder({ clock, cachedBytes: 10_000 });
    const changed$ = new Subject<void>();
    const encode = (): string[] => {
      throw new Error('no snapshot');
    };
    const tools = { clock, paceMs: 0, epoch: 'e', nextVersion: () => (version += 1) };
    const failing = new Feed(
      { kind: 'queue', name: 'f' },
      { changed$, encode, close: () => undefined },
      tools,
    );
    changed$.next();
    encoder.schedule(failing, 'client');
    expect(() => failing.event).to.throw('no snapshot');
    encoder.schedule(feedOf('good', 1).feed, 'client');
    await clock.advance(100);
    expect(encoded).to.deep.equal(['good']);
  });
});
