import { borrowGlobals } from '../borrowed-globals.ts';
import { EtcdStore } from '../etcd/etcd-store.ts';
import type { Product } from '../product.ts';
import { Random } from '../random.ts';
import { Machine, Timeline } from '../timeline.ts';
import { ZooKeeperStore } from '../zookeeper/zookeeper-store.ts';
import { Agreements } from './agreements.ts';
import { Client } from './client.ts';
import { befall, type Stage } from './faults.ts';
import type { Fact } from './facts.ts';
import { finish } from './finish.ts';
import { GuardedWrites } from './guarded-writes.ts';
import { Holds } from './holds.ts';
import { Judge } from './judge.ts';
import type { Rule } from './rule.ts';
import type { Plan } from './plan.ts';
import type { Access, Premises, Store } from './store.ts';
import { Storm } from './storm.ts';

/** The result of one simulated run. */
export interface Played {
  /** The first rule that the run broke. `undefined` if it kept all rules. */
  readonly broken: Rule | undefined;
  readonly story: readonly string[];
  readonly facts: readonly Fact[];
  readonly events: number;
  readonly grants: number;
}

const STORES: Readonly<Record<Plan['store'], new (premises: Premises) => Store>> = {
  etcd: EtcdStore,
  zookeeper: ZooKeeperStore,
};

/** Simulates the run of a plan. The same plan always produces the same events. */
export async function play(product: Product, plan: Plan): Promise<Played> {
  const timeline = new Timeline();
  const judge = new Judge(() => timeline.now());
  const lost = (reason: unknown): void => judge.require('nothing lost', false, () => String(reason));
  const random = new Random(plan.seed);
  const giveBack = borrowGlobals(timeline, random.fork('globals'), lost);
  try {
    const note = (line: string): void => judge.note(line);
    const store = new STORES[plan.store]({ timeline, random, product, plan, note });
    const holds = new Holds(timeline, judge, store);
    const agreements = new Agreements(timeline, judge, store);
    const writes = new GuardedWrites(timeline, judge, store);
    const stage = setStage({ timeline, judge, store, holds, agreements, writes, product, plan });
    for (const fault of plan.faults) befall(stage, fault);
    await finish(stage);
    holds.finish();
    const { broken, story, facts } = judge;
    return { broken, story, facts, events: timeline.events, grants: holds.grants };
  } finally {
    giveBack();
  }
}

interface Props extends Pick<Stage, 'timeline' | 'judge' | 'store' | 'holds'> {
  readonly agreements: Agreements;
  readonly writes: GuardedWrites;
  readonly product: Product;
  readonly plan: Plan;
}

/**
 * Creates the clients of a run and starts them. Returns the objects to which faults apply, such as the
 * clients, their connections and the store.
 */
function setStage({ timeline, judge, store, holds, agreements, writes, product, plan }: Props): Stage {
  const { queues } = plan;
  const machineOf = (i: number, name = `c${i}`): Machine => {
    const rate = plan.clients[i]?.rate ?? 1;
    return new Machine(timeline, name, { rate, bootedAt: 10_000 * i, hasPromises: true });
  };
  const accesses = plan.clients.map((_client, i) => {
    const client = `c${i}`;
    const storm = new Storm({ client, most: store.mostASecond, holds }, timeline, judge);
    return store.access(client, () => storm.sent());
  });
  const clients = plan.clients.map((clientPlan, i) => {
    const machine = machineOf(i);
    const client = new Client(machine.name, machine, {
      ...{ timeline, judge, holds, agreements, writes, queues, product, plan: clientPlan },
      access: accesses[i] as Access,
      mayMove: plan.faults.some(({ kind, client: at }) => kind === 'client moves' && at === i),
    });
    client.start();
    return client;
  });
  const another = (client: Client): Machine => machineOf(clients.indexOf(client), `${client.name}'`);
  const fate = new Machine(timeline, 'fate');
  return { timeline, judge, store, holds, queues, accesses, clients, another, fate };
}
