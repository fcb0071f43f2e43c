import { expect } from 'chai';
import type { Connection, Endpoint } from '../src/server/connection.ts';
import { KeepAlive } from '../src/session/keep-alive.ts';

interface Responding {
  readonly onResponse: (response: object) => void;
}

/** Two fake members that respond to every keepalive at once, and record which of them received it. */
class Members {
  readonly requested: string[] = [];
  readonly left: string[] = [];
  readonly #a = this.#member('a');
  readonly #b = this.#member('b');
  endpoint: Endpoint = this.#a;

  move(): void {
    this.endpoint = this.#b;
  }

  #member(host: string): Endpoint {
    const keepAlive = ({ onResponse }: Responding): object => ({
      write: () => {
        this.requested.push(host);
        onResponse({ TTL: '10', header: { raft_term: '7' } });
      },
      abandon: () => this.left.push(host),
    });
    return { host, driver: { keepAlive } } as unknown as Endpoint;
  }
}

describe('the keepalives of an etcd session', () => {
  const { signal } = new AbortController();

  it('move to another member only when the session requests it by a call of follow()', async () => {
    const members = new Members();
    const keepAlive = new KeepAlive(members as unknown as Connection, '1', 1_000);
    await keepAlive.heartbeat(signal);
    keepAlive.follow();
    await keepAlive.heartbeat(signal);
    members.move();
    await keepAlive.heartbeat(signal);
    expect(members.left).to.deep.equal([]);
    keepAlive.follow();
    expect(await keepAlive.heartbeat(signal)).to.deep.include({ ttlMs: 10_000, term: '7' });
    expect(members.requested).to.deep.equal(['a', 'a', 'a', 'b']);
    expect(members.left).to.deep.equal(['a']);
  });
});
