import type { ICompare } from 'etcd3';
import { Link } from '../link.ts';
import { losesEvents, type Product } from '../product.ts';
import { RATE_ERROR, SINGLE, type ClientPlan } from '../run/plan.ts';
import type { Access, Connected, Premises, StoredEntry, Store } from '../run/store.ts';
import type { Machine } from '../timeline.ts';
import { Api } from './api.ts';
import { certainly } from './certainly.ts';
import { Cluster } from './cluster.ts';
import { SimulatedDriver } from './driver.ts';
import type { Row } from './keyspace.ts';
import type { Member } from './member.ts';

const MIN_TTL_S = 2;
/**
 * The fault `stranger` is a client of other software that uses a queue. If the fault's severity is below this
 * number and the queue has a single key, that client takes the single key. Otherwise it adds an entry.
 */
const TAKES_SINGLE = 0.75;
// Prefix of the keys of registers. Clients also record there which entries they evicted.
const REGISTERS = '.queuelock/register/';
const STRANGER = 'a stranger';

/** The simulated etcd cluster, as a simulated run uses it. */
export class EtcdStore implements Store {
  readonly mostASecond = 100;
  onDeleted: Store['onDeleted'] = () => undefined;
  readonly #cluster: Cluster;
  readonly #premises: Premises;
  #isStrangers = false;

  constructor(premises: Premises) {
    const { timeline, random, plan } = premises;
    const { members, version } = plan;
    const options = { members, version, minTtl: MIN_TTL_S, rateError: RATE_ERROR };
    this.#premises = premises;
    this.#cluster = new Cluster(timeline, random.fork('cluster'), options);
    this.#cluster.store.onDeleted = ({ key, create }, isNamed) =>
      this.onDeleted({ key, token: BigInt(create) }, isNamed);
  }

  get members(): readonly Member[] {
    return this.#cluster.members;
  }

  get leader(): Member | undefined {
    return this.#cluster.terms.leader;
  }

  heal(member: Member): void {
    this.#cluster.heal(member);
  }

  restart(member: Member): void {
    this.#cluster.restart(member);
  }

  compact(): void {
    this.#cluster.compact();
  }

  access(name: string, onSent: () => void): Access {
    const { random, timeline, product, plan } = this.#premises;
    const { members } = this;
    const proxyOrder = plan.isProxied ? random.fork(`${name} proxy`) : undefined;
    const apis = members.map(
      (member) => new Api(this.#cluster, member, random.fork(`${name} ids ${member.id}`)),
    );
    const links: Link[] = [];
    const drive = (host: string, client: Machine): SimulatedDriver => {
      const place = members.findIndex((member) => member.host === host);
      const api = apis[place] as Api;
      const { member } = api;
      const link = new Link(timeline, random.fork(`${client.name} ${member.machine.name}`), {
        client,
        member,
      });
      links[place] = link;
      return new SimulatedDriver(link, api, { onSent, proxyOrder });
    };
    const hosts = members.map(({ host }) => host);
    return {
      links,
      connect: (machine, plan) => connect(product, { hosts, drive: (host) => drive(host, machine) }, plan),
      deny: (isDenied) => {
        for (const api of apis) api.isDenied = isDenied;
      },
    };
  }

  standing(queue: string): readonly StoredEntry[] {
    return this.#rows(queue).map(({ key, create }) => ({
      key,
      token: BigInt(create),
      shared: key.endsWith('~r'),
      permits: Number(/~(\d+)of/.exec(key)?.[1] ?? 1),
    }));
  }

  owner(queue: string): string | undefined {
    if (queue !== SINGLE.queue) return undefined;
    const [single] = this.#cluster.store.keyspace.rows({ key: SINGLE.key, end: undefined });
    return this.#isStrangers ? STRANGER : (single?.value.toString() ?? 'nobody');
  }

  shown(queue: string, revision?: number): string {
    const byOrder = [...this.#rows(queue, revision)].sort((one, other) => one.create - other.create);
    return byOrder.map(({ key, create }) => `${key} ${create}`).join(', ');
  }

  shownAt(queue: string, text: string, since: number): number | undefined {
    const { keyspace } = this.#cluster.store;
    const mayHaveLostEvents = keyspace.losesBefore > 0 && losesEvents(this.#premises.plan.version);
    // Cannot check the observed state if older states were compacted, or if the server may have lost events
    // of deletions. Then accepts the state by returning `since`. After lost events, an observer may even show
    // a state that never existed, until it reads the queue again.
    if (keyspace.compacted > 0 || mayHaveLostEvents) return since;
    let at = Math.max(1, since);
    while (at <= keyspace.revision && this.shown(queue, at) !== text) at += 1;
    return at <= keyspace.revision ? at : undefined;
  }

  removeEntry(queue: string, place: number): void {
    certainly(this.#cluster, (store) => {
      const byAge = [...this.#rows(queue)].sort((one, other) => one.create - other.create);
      const row = byAge.at(place);
      if (row) this.#premises.note(`an operator deletes ${row.key}`);
      const key = Buffer.from(row?.key ?? 'nothing');
      const success = [{ request_delete_range: { key } }];
      return store.txn({ compare: [createdAt(key, row?.create ?? 0)], success });
    });
  }

  /** Adds an entry as a client of other software does, or takes the single key as such a client does. */
  enterStranger(queue: string, forMs: number, degree: number): void {
    const isSingle = queue === SINGLE.queue && degree < TAKES_SINGLE;
    const key = Buffer.from(isSingle ? SINGLE.key : `${queue}/stranger`);
    const success = [{ request_put: { key, value: Buffer.from('of a stranger') } }];
    const { note } = this.#premises;
    certainly(this.#cluster, (store) => {
      const response = store.txn({ compare: [createdAt(key, 0)], success });
      if (!('succeeded' in response.body && response.body.succeeded === true)) return response;
      note(`a stranger creates ${key.toString()}`);
      if (isSingle) this.#isStrangers = true;
      this.#cluster.later(forMs, () => {
        certainly(this.#cluster, (later) => {
          note(`the stranger deletes ${key.toString()}`);
          if (isSingle) this.#isStrangers = false;
          return later.deleteRange({ key });
        });
      });
      return response;
    });
  }

  left(): readonly string[] {
    const { keyspace, leases } = this.#cluster.store;
    return [
      ...keyspace
        .rows({ key: '', end: '\u0100' })
        .flatMap(({ key }) => (key.startsWith(REGISTERS) ? [] : [`key ${key}`])),
      ...[...leases.keys()].map((id) => `lease ${id}`),
      ...this.members.flatMap(({ host, streams }) =>
        streams.size > 0 ? [`${streams.size} streams at ${host}`] : [],
      ),
    ];
  }

  #rows(queue: string, revision?: number): readonly Row[] {
    return this.#cluster.store.keyspace.rows({ key: `${queue}/`, end: `${queue}0` }, revision);
  }
}

/**
 * Returns an etcd comparison: the key was created at `revision`. Revision 0 means that the key does not
 * exist.
 */
function createdAt(key: Buffer, revision: number): ICompare {
  return { target: 'Create', result: 'Equal', create_revision: String(revision), key };
}

interface HostDrivers {
  readonly hosts: readonly string[];
  readonly drive: (host: string) => SimulatedDriver;
}

function connect(product: Product, { hosts, drive }: HostDrivers, { naming }: ClientPlan): Connected {
  const drivers: SimulatedDriver[] = [];
  const open = (host: string): SimulatedDriver => {
    const driver = drive(host);
    drivers.push(driver);
    return driver;
  };
  return {
    backend: product.etcdOver(open, {
      hosts: [...hosts],
      naming: (queue) => (queue === 'f' ? naming : 'go'),
      singleKey: (queue) => (queue === SINGLE.queue ? SINGLE.key : undefined),
    }),
    get excess() {
      return drivers.reduce((sum, { beats: heartbeats }) => sum + heartbeats, 0) - 1;
    },
    crash: () => drivers.forEach((driver) => driver.crash()),
  };
}
