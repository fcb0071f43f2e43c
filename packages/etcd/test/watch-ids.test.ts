import { expect } from 'chai';
import { Connection } from '../src/server/connection.ts';
import { checkOptions } from '../src/api/options.ts';
import { Watches, type WatchTarget } from '../src/server/watches.ts';
import { eventually } from './clients.ts';
import { ScriptedStreams } from './scripted-stream.ts';

// A timeout in milliseconds that no test reaches, unless the test sets a shorter one.
const LONG_TIMEOUT_MS = 30_000;
const SOON_MS = 20;

describe('the watches on one stream of an etcd server', () => {
  let member: ScriptedStreams;
  let connection: Connection;
  let watches: Watches;
  /** The notifications that each watcher has received, by the watcher's key. */
  let notifications: Record<string, string[]>;

  beforeEach(() => {
    open(LONG_TIMEOUT_MS);
  });
  afterEach(() => {
    watches.close();
    connection.close();
  });

  function open(responseWithinMs: number): void {
    member = new ScriptedStreams();
    notifications = {};
    connection = new Connection(checkOptions({ hosts: '127.0.0.1:1' }), () => member.driver);
    watches = new Watches(connection, responseWithinMs);
  }

  function watch(key: string, target: WatchTarget = { key: Buffer.from(key) }): { unsubscribe(): void } {
    const received: string[] = (notifications[key] = []);
    return watches.watch(target).subscribe((reported) => {
      if (reported.status === 'events')
        received.push(...reported.events.map(({ kv }) => `${kv.key.toString()} is gone`));
      else received.push(reported.status);
    });
  }

  function watchAll(...keys: string[]): void {
    for (const key of keys) watch(key);
  }

  describe("on a server that ignores the client's ids and numbers watches itself", () => {
    it('are requested one at a time, each after the confirmation of the one before', () => {
      watchAll('q/a', 'q/b', 'q/c');
      expect(member.requested).to.deep.equal(['q/a']);
      member.confirm('0');
      expect(member.requested).to.deep.equal(['q/a', 'q/b']);
      member.confirm('1');
      member.confirm('2');
      expect(member.requested).to.deep.equal(['q/a', 'q/b', 'q/c']);
      expect(notifications).to.deep.equal({ 'q/a': ['live'], 'q/b': ['live'], 'q/c': ['live'] });
    });

    it('each get the events with the id that the server confirmed', () => {
      watchAll('q/a', 'q/b');
      member.confirm('0');
      member.confirm('1');
      member.deleted('1', 'q/b');
      expect(notifications).to.deep.equal({ 'q/a': ['live'], 'q/b': ['live', 'q/b is gone'] });
    });

    it('are canceled by the ids that the server confirmed', async () => {
      const watching = watch('q/a');
      member.confirm('5');
      watching.unsubscribe();
      await eventually('the cancellation', () => member.canceled.length > 0);
      expect(member.canceled).to.deep.equal(['5']);
    });

    it('are canceled soon after their confirmation if their watchers have already left', async () => {
      const watching = watch('q/a');
      watch('q/b');
      watching.unsubscribe();
      expect(member.canceled).to.deep.equal([]);
      member.confirm('0');
      member.confirm('1');
      await eventually('the cancellation', () => member.canceled.length > 0);
      expect(member.canceled).to.deep.equal(['0']);
      expect(notifications).to.deep.equal({ 'q/a': [], 'q/b': ['live'] });
    });

    it('are not requested if their watchers leave before the request', () => {
      watch('q/a');
      watch('q/b').unsubscribe();
      member.confirm('0');
      expect(member.requested).to.deep.equal(['q/a']);
    });

    it('are tested, after a request to the server has failed, by one more watch on the stream', async () => {
      watch('q/a');
      member.confirm('0');
      connection.failed(connection.endpoint, { what: 'a request', error: new Error('no answer') });
      expect(member.written[0]?.filter(({ progress_request }) => progress_request)).to.deep.equal([]);
      expect(member.requested).to.deep.equal(['q/a', 'q/a']);
      member.confirm('1');
      await eventually('the cancellation', () => member.canceled.length > 0);
      expect(member.canceled).to.deep.equal(['1']);
      member.deleted('0', 'q/a');
      expect(notifications).to.deep.equal({ 'q/a': ['live', 'q/a is gone'] });
    });

    it('all end when the server confirms two watches with the same id', () => {
      watchAll('q/a', 'q/b');
      member.confirm('0');
      member.confirm('0');
      expect(notifications).to.deep.equal({ 'q/a': ['live', 'broken'], 'q/b': ['broken'] });
    });
  });

  describe('on a server that accepts the ids that the client proposes', () => {
    const confirmFirst = (): void => {
      watch('q/first');
      member.confirm(String(member.proposed[0]));
    };

    it('are requested all at once after the server has confirmed the first watch', () => {
      confirmFirst();
      watchAll('q/a', 'q/b', 'q/c');
      expect(member.requested).to.deep.equal(['q/first', 'q/a', 'q/b', 'q/c']);
    });

    it('may be confirmed by the server in any order', () => {
      confirmFirst();
      watchAll('q/a', 'q/b');
      const [, a, b] = member.proposed.map(String);
      member.confirm(b ?? '');
      expect(notifications).to.deep.include({ 'q/a': [], 'q/b': ['live'] });
      member.confirm(a ?? '');
      member.deleted(a ?? '', 'q/a');
      expect(notifications).to.deep.include({ 'q/a': ['live', 'q/a is gone'], 'q/b': ['live'] });
    });

    it('are canceled together, and get no event in the meantime, when their watchers leave one after the other', async () => {
      confirmFirst();
      const watching = ['q/a', 'q/b'].map((key) => watch(key));
      const ids = member.proposed.slice(1).map(String);
      for (const id of ids) member.confirm(id);
      watching[0]?.unsubscribe();
      await Promise.resolve();
      watching[1]?.unsubscribe();
      expect(member.canceled).to.deep.equal([]);
      member.deleted(ids[0] ?? '', 'q/a');
      await eventually('a cancellation', () => member.canceled.length > 0);
      expect(member.canceled).to.deep.equal(ids);
      expect(notifications).to.deep.include({ 'q/a': ['live'], 'q/b': ['live'] });
    });

    it('all end when the server confirms a watch with another id than the client has proposed', () => {
      confirmFirst();
      watchAll('q/a', 'q/b');
      member.confirm('1');
      expect(notifications).to.deep.include({ 'q/a': ['broken'], 'q/b': ['broken'] });
    });
  });

  it('ignore events of ids that the server has not confirmed', () => {
    watch('q/a');
    member.deleted(String(member.proposed[0]), 'q/a');
    member.deleted('0', 'q/a');
    expect(notifications).to.deep.equal({ 'q/a': [] });
    member.confirm('0');
    expect(notifications).to.deep.equal({ 'q/a': ['live'] });
  });

  it('all end when the server sends a watch an event of another key', () => {
    watchAll('q/a', 'q/b');
    member.confirm('0');
    member.confirm('1');
    member.deleted('0', 'q/b');
    expect(notifications).to.deep.equal({ 'q/a': ['live', 'broken'], 'q/b': ['live', 'broken'] });
  });

  it('are requested again on another stream after an event of another key', async () => {
    watch('q/a');
    member.confirm('0');
    member.deleted('0', 'q/b');
    await eventually('a second stream', () => member.written.length === 2);
    expect(member.requested).to.deep.equal(['q/a']);
    member.confirm('0');
    expect(notifications).to.deep.equal({ 'q/a': ['live', 'broken', 'live'] });
  });

  it('get the events of every key in a watched range, and of no other key', () => {
    watch('q/', { key: Buffer.from('q/'), range_end: Buffer.from('q0') });
    member.confirm('0');
    member.deleted('0', 'q/a');
    member.deleted('0', 'q0');
    expect(notifications).to.deep.equal({ 'q/': ['live', 'q/a is gone', 'broken'] });
  });

  it('get the events of all keys behind the start of a range without end', () => {
    watch('q/', { key: Buffer.from([0]), range_end: Buffer.from([0]) });
    member.confirm('0');
    member.deleted('0', 'z');
    expect(notifications).to.deep.equal({ 'q/': ['live', 'z is gone'] });
  });

  it('all end when the server does not respond to a request, even if it sends events', async () => {
    open(SOON_MS);
    watchAll('q/a', 'q/b');
    member.confirm('0');
    const events = setInterval(() => member.deleted('0', 'q/a'), 1);
    await eventually('both are broken', () =>
      Object.values(notifications).every((received) => received.includes('broken')),
    );
    clearInterval(events);
  });
});
