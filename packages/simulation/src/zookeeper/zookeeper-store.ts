import { Link } from '../link.ts';
import type { Product } from '../product.ts';
import { NAMINGS, RATE_ERROR } from '../run/plan.ts';
import type { Access, Connected, Premises, StoredEntry, Store } from '../run/store.ts';
import { Machine } from '../timeline.ts';
import { certainly } from './certainly.ts';
import { Ensemble } from './ensemble.ts';
import type { Entry } from './leading.ts';
import type { Member } from './member.ts';
import { namedAs, type Named } from './names.ts';
import { SimulatedSocket, dialled } from './socket.ts';
import { CONTAINER, Tree, splitPath, type Node } from './tree.ts';

/** Settings of the ensemble. A tick is short, because the TTL of a session must be at least four ticks. */
const TICKS = { tickTimeMs: 500, syncLimit: 2 };
const CONTAINERS_EVERY_MS = 5_000;
/** Number of connections that a client needs: one for its session, and one for observers. */
const CONNECTIONS = 2;
const REGISTERS = '/.queuelock/register/';
// Directories that the server does not remove when they are empty: the root, and those of the queues `f`
// (naming `fast`) and `k` (naming `kazoo`).
const STAYING: ReadonlySet<string> = new Set(['/', '/f', '/k']);
const STRANGER = '_c_00000000-0000-0000-0000-000000000000-';
// The end of the name of an entry that no queuelock client made, by the naming scheme of the queue.
const MARKS = { fast: '__fast__', kazoo: '__lock__', 'curator-read-write': '__WRIT__', curator: 'lock-' };

interface Entered extends Named {
  readonly key: string;
  readonly token: bigint;
}

/** The simulated ZooKeeper ensemble, as a simulated run uses it. */
export class ZooKeeperStore implements Store {
  readonly mostASecond = 150;
  onDeleted: Store['onDeleted'] = () => undefined;
  readonly #premises: Premises;
  readonly #ensemble: Ensemble;
  readonly #fate: Machine;
  /** The committed state of the ensemble. */
  readonly #tree = new Tree();

  constructor(premises: Premises) {
    const { timeline, random, plan } = premises;
    this.#premises = premises;
    this.#fate = new Machine(timeline, 'fate');
    this.#ensemble = new Ensemble(timeline, random.fork('ensemble'), {
      members: plan.members,
      tickMs: TICKS.tickTimeMs,
      syncLimit: TICKS.syncLimit,
      containersEveryMs: CONTAINERS_EVERY_MS,
      rateError: RATE_ERROR,
    });
    this.#ensemble.onCommitted = (entry) => this.#committed(entry);
  }

  get members(): readonly Member[] {
    return this.#ensemble.members;
  }

  get leader(): Member | undefined {
    return this.#ensemble.leader;
  }

  heal(member: Member): void {
    this.#ensemble.heal(member);
  }

  restart(member: Member): void {
    this.#ensemble.restart(member);
  }

  compact(): void {
    // ZooKeeper has no history to compact.
  }

  access(_name: string, onSent: () => void): Access {
    const { timeline, random, product } = this.#premises;
    const links: Link<Member>[] = [];
    let denied = false;
    const isDenied = (): boolean => denied;
    return {
      links,
      connect: (client) => {
        const mine = this.members.map((member, i) => {
          const name = `${client.name} ${member.machine.name}`;
          return (links[i] = new Link(timeline, random.fork(name), { client, member }));
        });
        const dial = (address: string): SimulatedSocket => {
          const link = mine.find(({ member }) => member.host === address) as Link<Member>;
          return new SimulatedSocket({ link, isDenied, onSent });
        };
        return connect(product, { dial, hosts: this.members.map(({ host }) => host) });
      },
      deny: (isNow) => (denied = isNow),
    };
  }

  standing(queue: string): readonly StoredEntry[] {
    return this.#entered(queue);
  }

  owner(): undefined {
    return undefined;
  }

  shown(queue: string): string {
    const entered = [...this.#entered(queue)].sort(
      (one, other) => one.number - other.number || Number(one.shared) - Number(other.shared),
    );
    // While a writer becomes a reader, it has two entries. It counts as a reader as soon as the reader's
    // entry exists.
    const present = entered.filter(
      ({ number, shared }, at) => shared || entered[at + 1]?.number !== number || !entered[at + 1]?.shared,
    );
    return present.map(({ key, number }) => `${key} ${number}`).join(', ');
  }

  /**
   * Accepts any state that an observer shows, by returning `since` as the revision of that state. On
   * ZooKeeper an observer reads the values of entries one by one, so it may correctly show a state that never
   * existed.
   */
  shownAt(_queue: string, _text: string, since: number): number {
    return since;
  }

  removeEntry(queue: string, place: number): void {
    certainly(this.#ensemble, this.#fate, {
      step: () => {
        const byAge = [...this.#entered(queue)].sort((one, other) => one.number - other.number);
        const entry = byAge.at(place);
        return entry && { type: 'delete', path: entry.key, version: -1 };
      },
      done: (path) => this.#premises.note(`an operator deletes ${path}`),
    });
  }

  enterStranger(queue: string, forMs: number): void {
    const { note } = this.#premises;
    const naming = NAMINGS[queue] ?? 'curator';
    const path = `/${queue}/${naming === 'fast' ? '' : STRANGER}${MARKS[naming]}`;
    certainly(this.#ensemble, this.#fate, {
      step: (tree) =>
        tree.nodes.has(`/${queue}`)
          ? { type: 'create', path, data: Buffer.alloc(0), mode: { kind: 'persistent', isSequential: true } }
          : undefined,
      done: (made) => {
        note(`a stranger creates ${made}`);
        this.#fate.after(forMs, () =>
          certainly(this.#ensemble, this.#fate, {
            step: (tree) => (tree.nodes.has(made) ? { type: 'delete', path: made, version: -1 } : undefined),
            done: () => note(`the stranger deletes ${made}`),
          }),
        );
      },
    });
  }

  left(): readonly string[] {
    const { nodes, sessions } = this.#tree;
    return [
      ...[...nodes].flatMap(([path, node]) => (isLeft(path, node) ? [`node ${path}`] : [])),
      ...[...sessions.keys()].map((session) => `session ${session.toString(16)}`),
      ...this.members.flatMap(({ host, connections }) =>
        connections.size > 0 ? [`${connections.size} connections at ${host}`] : [],
      ),
    ];
  }

  #entered(queue: string): readonly Entered[] {
    const children = this.#tree.nodes.get(`/${queue}`)?.children ?? [];
    return [...children].flatMap((name) => {
      const named = namedAs(name);
      const key = `/${queue}/${name}`;
      return named ? [{ ...named, key, token: this.#tokenOf(key, named) }] : [];
    });
  }

  #tokenOf(path: string, named: Named | undefined): bigint {
    return named?.since ?? this.#tree.nodes.get(path)?.czxid ?? 0n;
  }

  #committed({ changes, zxid, by }: Entry): void {
    for (const change of changes) {
      if (change.type !== 'delete' || this.#tree.nodes.get(change.path)?.owner === by) continue;
      const { path } = change;
      // A path names exactly one entry, since the server uses no sequence number of a directory twice.
      this.onDeleted({ key: path, token: this.#tokenOf(path, namedAs(splitPath(path).name)) }, true);
    }
    this.#tree.apply(changes, zxid, () => undefined);
  }
}

/**
 * Returns whether a node that exists at the end of a run should have been removed. Nodes of registers, and
 * directories that never had a child, may exist.
 */
function isLeft(path: string, { owner, made, children }: Node): boolean {
  if (owner === CONTAINER) return made > 0 && children.size === 0;
  return owner > 0n || !(STAYING.has(path) || path.startsWith(REGISTERS));
}

interface Ways {
  readonly hosts: readonly string[];
  readonly dial: (address: string) => SimulatedSocket;
}

function connect(product: Product, { hosts, dial }: Ways): Connected {
  const sockets = new Set<SimulatedSocket>();
  const settings = product.settingsOf({
    ...TICKS,
    hosts: [...hosts],
    naming: (queue) => NAMINGS[queue] ?? 'curator',
  });
  const backend = new product.ZooKeeperBackend(settings, ({ host, port }) => {
    const socket = dial(`${host}:${port}`);
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return dialled(socket);
  });
  return {
    backend,
    get excess() {
      return [...sockets].filter(({ isOver }) => !isOver).length - CONNECTIONS;
    },
    crash: () => sockets.forEach((socket) => socket.drop()),
  };
}
