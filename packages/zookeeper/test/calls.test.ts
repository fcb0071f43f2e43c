import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { DeadlineQueue, systemClock } from '@queuelock/core/backend';
import { expect } from 'chai';
import { Calls, type CallOption, type RequestSender } from '../src/driver/calls.ts';
import { outcome } from './bench.ts';

const TIMEOUT_MS = 200;

function newCalls(): Calls<Wire> {
  return new Calls(new DeadlineQueue(TIMEOUT_MS, systemClock()));
}

/** A connection that records requests. The test sends the replies. */
class Wire implements RequestSender<Wire> {
  /** The requests that the connection has sent, in order. */
  readonly sent: string[] = [];
  readonly #replies = new Map<string, () => void>();

  send(request: (wire: Wire) => number): number {
    return request(this);
  }

  ask(calls: Calls<Wire>, what: string, option?: CallOption): Promise<unknown> {
    return calls.issue(
      what,
      (_wire, done) => {
        this.sent.push(what);
        this.#replies.set(what, () => done(0, ''));
        return 0;
      },
      option,
    );
  }

  answer(what: string): void {
    this.#replies.get(what)!();
  }
}

describe('the calls of a session', () => {
  const names = Array.from({ length: 350 }, (_, number) => `call ${number}`);

  function begun(): { calls: Calls<Wire>; wire: Wire; results: Promise<string>[] } {
    const [calls, wire] = [newCalls(), new Wire()];
    calls.sendBy(wire);
    return { calls, wire, results: names.map((name) => outcome(wire.ask(calls, name))) };
  }

  it('are sent in order, at most 100 at a time', async () => {
    const { wire, results } = begun();
    expect(wire.sent).to.deep.equal(names.slice(0, 100));
    wire.answer(names[50]!);
    await results[50];
    expect(wire.sent).to.deep.equal(names.slice(0, 101));
    for (const name of names) {
      while (!wire.sent.includes(name)) await nextTurn();
      if (name !== names[50]) wire.answer(name);
    }
    expect(new Set(await Promise.all(results))).to.deep.equal(new Set(['fine']));
    expect(wire.sent).to.deep.equal(names);
  });

  it('are overtaken by an urgent call, even if 100 calls are in flight', async () => {
    const { calls, wire } = begun();
    const urgent = wire.ask(calls, 'heartbeat', { urgent: true });
    expect(wire.sent.at(-1)).to.equal('heartbeat');
    wire.answer('heartbeat');
    await urgent;
  });

  it('are sent after a reconnect, urgent ones first', () => {
    const [calls, wire] = [newCalls(), new Wire()];
    for (const name of names) void outcome(wire.ask(calls, name));
    void outcome(wire.ask(calls, 'heartbeat', { urgent: true }));
    calls.sendBy(wire);
    expect(wire.sent).to.deep.equal(['heartbeat', ...names.slice(0, 99)]);
  });

  it('are sent on a new connection without waiting for replies to calls on the old one', () => {
    const [calls, before, next] = [newCalls(), new Wire(), new Wire()];
    calls.sendBy(before);
    for (const name of names.slice(0, 100)) void outcome(before.ask(calls, name));
    void outcome(next.ask(calls, 'one more'));
    expect(next.sent).to.be.empty;
    calls.park();
    calls.sendBy(next);
    expect(next.sent).to.deep.equal(['one more']);
  });

  it('do not time out before they are sent, as long as replies arrive', async () => {
    const { wire, results } = begun();
    const begunAt = performance.now();
    for (let replied = 0; replied < names.length;) {
      const sent = wire.sent.slice(replied);
      replied += sent.length;
      await pause(TIMEOUT_MS / 2);
      for (const name of sent) wire.answer(name);
      while (wire.sent.length === replied && replied < names.length) await nextTurn();
    }
    expect(performance.now() - begunAt).to.be.greaterThan(1.9 * TIMEOUT_MS);
    expect(new Set(await Promise.all(results))).to.deep.equal(new Set(['fine']));
  });

  it('reject at the timeout with an unknown outcome when the server is silent', async () => {
    const { results } = begun();
    expect(new Set(await Promise.all(results))).to.deep.equal(new Set(['UNAVAILABLE']));
  });
});
