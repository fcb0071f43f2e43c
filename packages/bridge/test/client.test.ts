import { AsyncLocalStorage } from 'node:async_hooks';
import { virtualClock, type VirtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { createBridgeClient, type BridgeClient, type BridgeError, type Observed } from '../src/client.ts';
import { PageHold } from '../src/client/page-hold.ts';
import type { QueueSnapshot, StreamRequest } from '../src/wire.ts';
import { seen, stage, Tab } from './stage.ts';

/** A fake bridge whose responses the test controls. */
class PlayedBridge {
  readonly requests: StreamRequest[] = [];
  isDown = false;
  isOverloaded = false;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;

  readonly fetch: typeof fetch = async (_, init) => {
    if (this.isDown) throw new TypeError('fetch failed');
    this.requests.push(JSON.parse(init?.body as string) as StreamRequest);
    if (this.isOverloaded) {
      const error = { code: 'UNAVAILABLE', message: '[UNAVAILABLE] a limit', retryable: true };
      return Response.json({ error }, { status: 429, headers: { 'retry-after': '5' } });
    }
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#stream = controller;
      },
    });
    init?.signal?.addEventListener('abort', () => this.#stream?.error(init.signal?.reason));
    return new Response(body);
  };

  say(text: string): void {
    this.#stream?.enqueue(Buffer.from(text));
  }

  hello(): void {
    this.say('event: hello\ndata: {"version":2,"epoch":"e","now":5000,"heartbeatMs":1000}\n\n');
  }

  tell(name: string, version: number): void {
    const snapshot = { at: 5_000, status: 'live', name, entries: [], evictions: [], handOffs: version };
    const data = JSON.stringify({ topic: JSON.stringify(['queue', name]), snapshot });
    this.say(`id: e.${String(version)}\nevent: state\ndata: ${data}\n\n`);
  }

  breakOff(): void {
    this.#stream?.error(new TypeError('terminated'));
  }
}

describe('bridge client of a page', () => {
  let clock: VirtualClock;
  let bridge: PlayedBridge;
  let page: BridgeClient;
  let states: Observed<QueueSnapshot>[];
  let observeOptions: { unsubscribe(): void };
  const last = (): Observed<QueueSnapshot> => states.at(-1)!;

  beforeEach(async () => {
    clock = virtualClock();
    bridge = new PlayedBridge();
    page = createBridgeClient({ fetch: bridge.fetch, clock });
    states = [];
    observeOptions = page.queue('q').subscribe((state) => states.push(state));
    await clock.advance(10);
  });
  afterEach(() => {
    observeOptions.unsubscribe();
    page.close();
    expect(clock.timerCount).to.equal(0);
  });

  it('has the status connecting at first, then live with the snapshot that it received', async () => {
    expect(last()).to.include({ connection: 'connecting', snapshot: undefined });
    bridge.hello();
    bridge.tell('q', 1);
    await clock.advance(1);
    expect(last().connection).to.equal('live');
    expect(last().snapshot).to.include({ handOffs: 1 });
    expect(page.serverNow()).to.be.within(5_000, 5_001);
  });

  it('notifies each subscriber in the asynchronous context of that subscriber', async () => {
    const caller = new AsyncLocalStorage<string>();
    const calls: string[] = [];
    const note = (what: string): void => void calls.push(`${what} as ${String(caller.getStore())}`);
    const reads = ['Ann', 'Ben'].flatMap((owner) =>
      caller.run(owner, () => [
        page.queue('q').subscribe(() => note(`queue of ${owner}`)),
        page.connection$.subscribe(() => note(`connection of ${owner}`)),
      ]),
    );
    const hold = new PageHold({
      ...{ name: 'q', id: 'i', key: 'k', order: '1', token: '1' },
      ...{ clock, deadline: 100, onLoss: () => undefined, release: async () => undefined },
      answer: async () => undefined,
    });
    caller.run('Ann', () => hold.signal.addEventListener('abort', () => note('signal of Ann')));
    await caller.run('Cid', async () => {
      bridge.hello();
      bridge.tell('q', 1);
      await clock.advance(10_000);
    });
    for (const read of reads) read.unsubscribe();
    expect(calls.filter((call) => !/of (\w+) as \1$/.test(call))).to.deep.equal([]);
    for (const what of ['queue of Ann', 'queue of Ben', 'connection of Ben', 'signal of Ann'])
      expect(calls).to.include(`${what} as ${what.slice(-3)}`);
  });

  it('calls the option `headers` before each request, and sends the last headers again when that option throws', async () => {
    const sent: (string | null)[] = [];
    let token: string | undefined = 'one';
    const own = createBridgeClient({
      clock,
      headers: async () => {
        if (token === undefined) throw new Error('no token');
        return { authorization: token };
      },
      fetch: async (_, init) => {
        sent.push(new Headers(init?.headers).get('authorization'));
        throw new TypeError('fetch failed');
      },
    });
    const errors: BridgeError[] = [];
    own.errors$.subscribe((error) => errors.push(error));
    for (const next of ['two', undefined, 'three']) {
      await own.facts().catch(() => undefined);
      token = next;
    }
    await own.facts().catch(() => undefined);
    expect(sent).to.deep.equal(['one', 'two', 'two', 'three']);
    expect(errors.map(({ message }) => message)).to.deep.equal([
      '[UNAVAILABLE] the headers of a request could not be obtained: no token',
    ]);
    own.close();
  });

  it('fails a request within a time limit when the function headers has never succeeded', async () => {
    const own = createBridgeClient({
      clock,
      headers: () => new Promise<never>(() => undefined),
      fetch: () => expect.fail('not without headers'),
    });
    const failure = own.facts().catch((error: unknown) => error);
    await clock.advance(2_000);
    expect(await failure).to.include({ code: 'UNAVAILABLE', retryable: true });
    own.close();
  });

  it('becomes stale after 2.5 heartbeats without data, keeps the snapshot, and reconnects', async () => {
    bridge.hello();
    bridge.tell('q', 1);
    await clock.advance(2_000);
    bridge.say(':\n\n');
    await clock.advance(2_400);
    expect(last().connection).to.equal('live');
    await clock.advance(200);
    expect(last().connection).to.equal('stale');
    expect(last().error).to.include({ code: 'UNAVAILABLE', retryable: true });
    expect(last().snapshot).to.include({ handOffs: 1 });
    await clock.advance(250);
    expect(bridge.requests).to.have.lengthOf(2);
    expect(bridge.requests[1]!.topics).to.deep.equal([{ topic: { kind: 'queue', name: 'q' }, since: 'e.1' }]);
    bridge.hello();
    await clock.advance(1);
    expect(last().connection).to.equal('live');
    expect(last().snapshot).to.include({ handOffs: 1 });
  });

  it('retries with a growing backoff while the bridge is down', async () => {
    bridge.hello();
    await clock.advance(1);
    bridge.isDown = true;
    bridge.breakOff();
    await clock.advance(60_000);
    expect(last().connection).to.equal('stale');
    expect(bridge.requests).to.have.lengthOf(1);
    bridge.isDown = false;
    await clock.advance(10_001);
    expect(bridge.requests).to.have.lengthOf(2);
  });

  it('waits before a retry for as long as the bridge requires when a limit of the bridge is reached', async () => {
    bridge.hello();
    await clock.advance(1);
    bridge.isOverloaded = true;
    bridge.breakOff();
    await clock.advance(250);
    expect(bridge.requests).to.have.lengthOf(2);
    expect(last().error?.retryAfterMs).to.equal(5_000);
    bridge.isOverloaded = false;
    await clock.advance(4_900);
    expect(bridge.requests).to.have.lengthOf(2);
    await clock.advance(5_101);
    expect(bridge.requests).to.have.lengthOf(3);
  });

  it('stops retrying when the last subscriber unsubscribes as soon as it receives the connection error', async () => {
    bridge.hello();
    await clock.advance(1);
    observeOptions.unsubscribe();
    const leaving = page.queue('q').subscribe(({ error }) => {
      if (error) leaving.unsubscribe();
    });
    await clock.advance(10);
    const requested = bridge.requests.length;
    bridge.breakOff();
    await clock.advance(60_000);
    expect(leaving.closed).to.equal(true);
    expect(bridge.requests).to.have.lengthOf(requested);
  });

  it('opens one stream for all subscriptions, and reopens it when the subscriptions change', async () => {
    bridge.hello();
    bridge.tell('q', 1);
    await clock.advance(1);
    const others = ['a', 'b', 'c'].map((name) => page.queue(name).subscribe());
    const again = page.queue('q').subscribe();
    await clock.advance(10);
    expect(bridge.requests).to.have.lengthOf(2);
    expect(
      bridge.requests[1]!.topics.map(({ topic, since }) => ['name' in topic && topic.name, since]),
    ).to.deep.equal([
      ['q', 'e.1'],
      ['a', undefined],
      ['b', undefined],
      ['c', undefined],
    ]);
    expect(last().connection, 'nobody sees that').to.equal('live');
    for (const read of [...others, again]) read.unsubscribe();
  });

  it('refuses subscriptions to more than 64 topics', async () => {
    const others = Array.from({ length: 63 }, (_, n) => page.queue(`n${String(n)}`).subscribe());
    let refused: Observed<QueueSnapshot> | undefined;
    const more = page.queue('more').subscribe((state) => (refused = state));
    expect(refused?.refusal).to.include({ code: 'INVALID_ARGUMENT' });
    await clock.advance(10);
    expect(bridge.requests.at(-1)!.topics).to.have.lengthOf(64);
    for (const read of [...others, more]) read.unsubscribe();
  });

  it('rejects snapshots that do not match the schema', async () => {
    bridge.hello();
    bridge.say('id: e.1\nevent: state\ndata: {"topic":"[\\"queue\\",\\"q\\"]","snapshot":{"at":"now"}}\n\n');
    await clock.advance(1);
    expect(last()).to.include({ connection: 'stale', snapshot: undefined });
    expect(last().error?.message).to.match(/response of the bridge is not valid/);
  });

  it('gives a late subscriber the last snapshot immediately', async () => {
    bridge.hello();
    bridge.tell('q', 3);
    await clock.advance(1);
    const late: Observed<QueueSnapshot>[] = [];
    page
      .queue('q')
      .subscribe((state) => late.push(state))
      .unsubscribe();
    expect(late).to.have.lengthOf(1);
    expect(late[0]!.snapshot).to.include({ handOffs: 3 });
  });
});

describe('the hold of a page', () => {
  const NAMES = { name: 'q', id: 'i', key: 'k', order: '1', token: '1' };

  it('ends at the deadline to the millisecond, even if the timer is late', async () => {
    const clock = virtualClock();
    const losses: BridgeError[] = [];
    const hold = new PageHold({
      ...NAMES,
      clock,
      deadline: 1_000,
      onLoss: (error) => losses.push(error),
      release: () => Promise.resolve(),
      answer: () => Promise.resolve(),
    });
    const { signal } = hold;
    clock.stall(999);
    expect([hold.held, hold.remainingMs]).to.deep.equal([true, 1]);
    hold.prove(3_000);
    await clock.advance(1_500);
    expect([hold.held, signal.aborted]).to.deep.equal([true, false]);
    clock.stall(501);
    expect([hold.held, hold.remainingMs]).to.deep.equal([false, 0]);
    expect(signal.aborted, 'no timer has run').to.equal(false);
    expect(hold.signal.aborted, 'looking at it looks at the clock').to.equal(true);
    hold.prove(10_000);
    expect(hold.held, 'what is lost does not come back').to.equal(false);
    expect(losses.map(({ code }) => code)).to.deep.equal(['OWNERSHIP_LOST']);
    expect(clock.timerCount).to.equal(0);
  });

  it('ends without a loss when it is released', async () => {
    await using s = await stage();
    const tab = new Tab(s.page().join('q'));
    const { lock } = await tab.until('held');
    const releases = [lock.release(), lock.release()];
    expect(lock.held).to.equal(false);
    await Promise.all(releases);
    expect(lock.signal.aborted).to.equal(false);
    await seen(s.page().queue('q'), ({ snapshot }) => snapshot?.entries.length === 0);
  });
});
