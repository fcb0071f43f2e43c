import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createLockClient, type LockClient } from '@queuelock/core';
import { election, type Election } from '@queuelock/recipes';
import { expect } from 'chai';
import { etcdStore } from '../scenarios/etcd-store.ts';
import type { Site } from '../scenarios/store.ts';
import { untilHolds, untilNothingIsLeft } from '../scenarios/wait.ts';
import { base64 } from '@queuelock/harness/services/etcd-gateway';
import { callGateway } from '@queuelock/harness/services/plain-clients';

/** Runs `etcdctl elect`, which uses Go's `concurrency.Election`. */
class GoElection {
  readonly lines: string[] = [];
  readonly #child: ChildProcess;

  constructor(endpoint: string, ...args: readonly string[]) {
    const env = { ...process.env, ETCDCTL_API: '3', ETCDCTL_ENDPOINTS: endpoint };
    this.#child = spawn('etcdctl', ['elect', ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface(this.#child.stdout!).on('line', (line) => this.lines.push(line));
  }

  /** The values that the command printed. It prints a key and a value on two lines. */
  get values(): readonly string[] {
    return this.lines.filter((_line, at) => at % 2 === 1);
  }

  /** Interrupts the command, which makes a candidate resign. */
  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill('SIGINT');
    await gone;
  }
}

describe("one election in etcd for queuelock and Go's Election", function () {
  this.timeout(60_000);
  let site: Site;
  let clients: LockClient[];
  let others: GoElection[];
  let name: string;

  before(async () => {
    site = await etcdStore.share("leader election with Go's");
  });

  beforeEach(() => {
    clients = [];
    others = [];
    name = `go-election-${process.pid}-${performance.now().toFixed()}`;
  });

  afterEach(async () => {
    await Promise.all(others.map((other) => other.end()));
    await Promise.all(clients.map((client) => client.close()));
    await untilNothingIsLeft(site, name);
  });

  function candidate(value: string): Election {
    const client = createLockClient(site.backend());
    clients.push(client);
    return election(client, name, { value });
  }

  function go(...args: readonly string[]): GoElection {
    const other = new GoElection(site.endpoint, ...args);
    others.push(other);
    return other;
  }

  it('notifies a Go observer once of each queuelock leader, and of each value that a leader proclaims', async () => {
    const observer = go('-l', name);
    const first = await candidate('a').campaign();
    await untilHolds('a is told', async () => expect(observer.values).to.deep.equal(['a']));
    const next = candidate('c').campaign();
    await untilHolds('c stands', async () => expect(await site.entries(name)).to.have.lengthOf(2));
    await first.proclaim('b');
    await untilHolds('b is told', async () => expect(observer.values).to.deep.equal(['a', 'b']));
    await first.resign();
    await (await next).proclaim('d');
    await untilHolds('d is told', async () => expect(observer.values.at(-1)).to.equal('d'));
    await (await next).resign();
    await (await candidate('e').campaign()).proclaim('f');
    await untilHolds('f is told', async () => expect(observer.values.at(-1)).to.equal('f'));
    // Go's observer reads the leader's value again after each notification. So of two values in quick
    // succession it may see only the second one. The test therefore ignores the values `c` and `e`: their
    // leaders soon proclaim `d` and `f`.
    expect(observer.values.filter((value) => !['c', 'e'].includes(value))).to.deep.equal([
      'a',
      'b',
      'd',
      'f',
    ]);
  });

  it("lets a Go candidate and queuelock's candidates lead in the order in which they joined", async () => {
    const first = await candidate('a').campaign();
    const leader: (string | undefined)[] = [];
    const present: string[][] = [];
    const observer = candidate('observer');
    const watching = [
      observer.leader$.subscribe((state) => leader.push(state.leader?.value)),
      observer.candidates$.subscribe(({ candidates }) => present.push(candidates.map(({ value }) => value))),
    ];
    const other = go(name, 'from go');
    await untilHolds('it stands', async () => expect(present.at(-1)).to.deep.equal(['a', 'from go']));
    const next = candidate('b').campaign();
    await untilHolds('b stands', async () => expect(present.at(-1)).to.deep.equal(['a', 'from go', 'b']));
    await first.resign();
    await untilHolds('it leads', async () => expect(other.values).to.deep.equal(['from go']));
    await untilHolds('it is seen', async () => expect(leader.at(-1)).to.equal('from go'));
    await other.end();
    expect(await next).to.include({ held: true });
    await untilHolds('b is seen', async () => expect(leader.at(-1)).to.equal('b'));
    for (const subscription of watching) subscription.unsubscribe();
  });

  it("shows queuelock's leader to etcd's election service, and the leader of that service to queuelock", async () => {
    const call = (what: string, body: object): Promise<unknown> =>
      callGateway(site.endpoint, `election/${what}`, body);
    const ours = await candidate('ours').campaign();
    const { kv } = (await call('leader', { name: base64(name) })) as { kv: { key: string; value: string } };
    expect(kv).to.deep.include({ key: base64(ours.key), value: base64('ours') });
    await ours.resign();
    const { ID: lease } = (await callGateway(site.endpoint, 'lease/grant', { TTL: 30 })) as { ID: string };
    const { leader } = (await call('campaign', { name: base64(name), lease, value: base64('theirs') })) as {
      leader: object;
    };
    const seen: (string | undefined)[] = [];
    const watching = candidate('observer').leader$.subscribe((state) => seen.push(state.leader?.value));
    await untilHolds('it is seen', async () => expect(seen.at(-1)).to.equal('theirs'));
    await call('proclaim', { leader, value: base64('theirs now') });
    await untilHolds('its value is seen', async () => expect(seen.at(-1)).to.equal('theirs now'));
    await call('resign', { leader });
    await untilHolds('vacancy is seen', async () => expect(seen.at(-1)).to.equal(undefined));
    watching.unsubscribe();
    await callGateway(site.endpoint, 'lease/revoke', { ID: lease });
  });
});
