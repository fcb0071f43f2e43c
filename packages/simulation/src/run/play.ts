import { borrowGlobals } from '../borrowed-globals.ts';
import { Api } from '../etcd/api.ts';
import { Cluster } from '../etcd/cluster.ts';
import { Link } from '../link.ts';
import type { Product } from '../product.ts';
import { Random } from '../random.ts';
import { SimulatedDriver } from '../simulated-driver.ts';
import { Machine, Timeline } from '../timeline.ts';
import { Client } from './client.ts';
import { befall, type Stage } from './faults.ts';
import { Holds } from './holds.ts';
import { Judge, type Rule } from './judge.ts';
import { RATE_ERROR, TROUBLE_ENDS_MS, type Plan } from './plan.ts';
import { Storm } from './storm.ts';

/** What came of a run. */
export interface Played {
  /** The first rule that was broken. */
  readonly broken: Rule | undefined;
  readonly story: readonly string[];
  readonly events: number;
  readonly grants: number;
}

/** For so long nothing may happen, once nothing goes wrong any more, while somebody waits: longer than any hold. */
const RESPITE_MS = 90_000;
const CLOSES_WITHIN_MS = 30_000;
const MOST_EVENTS = 200_000;
/** Longer than any lease, those included that begin anew with another leader. */
const FORGOTTEN_AFTER_MS = 30_000;

/** Plays a plan: the same one goes the same way every time. */
export async function play(product: Product, plan: Plan): Promise<Played> {
  const timeline = new Timeline();
  const judge = new Judge(() => timeline.now());
  const lost = (reason: unknown): void => judge.require('nothing lost', false, () => String(reason));
  const random = new Random(plan.seed);
  const giveBack = borrowGlobals(timeline, random.fork('globals'), lost);
  try {
    const stage = setStage({ timeline, judge }, plan, random);
    const holds = new Holds(timeline, judge, stage.cluster.store);
    const clients = startClients({ ...stage, product, plan, holds, random });
    for (const fault of plan.faults) befall({ ...stage, clients }, fault);
    await finish({ ...stage, clients });
    return { broken: judge.broken, story: judge.story, events: timeline.events, grants: holds.grants };
  } finally {
    giveBack();
  }
}

type EmptyStage = Omit<Stage, 'clients'> & { readonly machines: readonly Machine[] };

function setStage(
  { timeline, judge }: Pick<Stage, 'timeline' | 'judge'>,
  plan: Plan,
  random: Random,
): EmptyStage {
  const { members, version } = plan;
  const cluster = new Cluster(timeline, random.fork('cluster'), {
    members,
    version,
    minTtl: 2,
    rateError: RATE_ERROR,
  });
  const machines = plan.clients.map(
    ({ rate }, i) => new Machine(timeline, `c${i}`, { rate, bootedAt: 10_000 * i, hasPromises: true }),
  );
  const links = machines.map((client) =>
    cluster.members.map((member) => {
      const name = `${client.name} ${member.machine.name}`;
      return new Link(timeline, random.fork(name), { client, member });
    }),
  );
  const apis = machines.map(({ name }) =>
    cluster.members.map((member) => new Api(cluster, member, random.fork(`${name} ids ${member.id}`))),
  );
  return { timeline, judge, cluster, machines, links, apis, fate: new Machine(timeline, 'fate') };
}

interface Start extends EmptyStage {
  readonly product: Product;
  readonly plan: Plan;
  readonly holds: Holds;
  readonly random: Random;
}

function startClients({ product, plan, links, apis, cluster, machines, ...around }: Start): Client[] {
  const hosts = cluster.members.map(({ host }) => host);
  return plan.clients.map((clientPlan, i) => {
    const client = new Client(`c${i}`, machines[i] as Machine, around);
    const storm = new Storm(`c${i}`, around.timeline, around.judge);
    const drive = (host: string): SimulatedDriver => {
      const place = hosts.indexOf(host);
      return new SimulatedDriver(links[i]?.[place] as Link, apis[i]?.[place] as Api, () => storm.sent());
    };
    client.start(product, clientPlan, { hosts, drive });
    return client;
  });
}

async function finish({ timeline, judge, cluster, clients }: Stage): Promise<void> {
  const isEndless = (): boolean => timeline.events > MOST_EVENTS;
  const isDone = (): boolean =>
    isEndless() || judge.broken !== undefined || !clients.some(({ isBusy }) => isBusy);
  const isQuiet = (): boolean => timeline.now() - judge.lastAt > RESPITE_MS;
  await timeline.run(TROUBLE_ENDS_MS, isEndless);
  judge.note('nothing goes wrong any more');
  await timeline.run(Infinity, () => isDone() || isQuiet());
  const busy = clients.filter(({ isBusy }) => isBusy).map(({ name }) => name);
  judge.require('progress', !isEndless(), () => 'the same again and again');
  judge.require(
    'progress',
    busy.length === 0 || judge.broken !== undefined,
    () => `${busy.join(', ')} still wait`,
  );
  if (judge.broken) return;
  for (const client of clients) client.close();
  await timeline.run(timeline.now() + CLOSES_WITHIN_MS, isDone);
  await timeline.run(timeline.now() + FORGOTTEN_AFTER_MS, () => judge.broken !== undefined);
  const left = [
    ...clients.filter(({ isBusy }) => isBusy).map(({ name }) => `${name} does not close`),
    ...cluster.store.keyspace.rows({ key: '', end: '\u0100' }).map(({ key }) => `key ${key}`),
    ...[...cluster.store.leases.keys()].map((id) => `lease ${id}`),
    ...cluster.members.flatMap(({ host, streams }) =>
      streams.size > 0 ? [`${streams.size} streams at ${host}`] : [],
    ),
    ...clients.flatMap(({ name, machine }) =>
      machine.timers > 0 ? [`${machine.timers} timers of ${name}`] : [],
    ),
  ];
  judge.require('nothing left', left.length === 0, () => left.join(', '));
}
