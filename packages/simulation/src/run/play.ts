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
import { finish } from './finish.ts';
import { Holds } from './holds.ts';
import { Judge, type Rule } from './judge.ts';
import { RATE_ERROR, type Plan } from './plan.ts';
import { Storm } from './storm.ts';

/** What came of a run. */
export interface Played {
  /** The first rule that was broken. */
  readonly broken: Rule | undefined;
  readonly story: readonly string[];
  readonly events: number;
  readonly grants: number;
}

/** Plays a plan: the same one goes the same way every time. */
export async function play(product: Product, plan: Plan): Promise<Played> {
  const timeline = new Timeline();
  const judge = new Judge(() => timeline.now());
  const lost = (reason: unknown): void => judge.require('nothing lost', false, () => String(reason));
  const random = new Random(plan.seed);
  const giveBack = borrowGlobals(timeline, random.fork('globals'), lost);
  try {
    const { members, version } = plan;
    const options = { members, version, minTtl: 2, rateError: RATE_ERROR };
    const cluster = new Cluster(timeline, random.fork('cluster'), options);
    const holds = new Holds(timeline, judge, cluster.store);
    const stage = setStage({ timeline, judge, cluster, holds, product, plan, random });
    for (const fault of plan.faults) befall(stage, fault);
    await finish(stage);
    return { broken: judge.broken, story: judge.story, events: timeline.events, grants: holds.grants };
  } finally {
    giveBack();
  }
}

interface Props extends Pick<Stage, 'timeline' | 'judge' | 'cluster' | 'holds'> {
  readonly product: Product;
  readonly plan: Plan;
  readonly random: Random;
}

/** With the clients on it, which have begun. */
function setStage(props: Props): Stage {
  const { timeline, judge, cluster, holds, product, plan, random } = props;
  const { queues } = plan;
  const machineOf = (i: number, name = `c${i}`): Machine => {
    const rate = plan.clients[i]?.rate ?? 1;
    return new Machine(timeline, name, { rate, bootedAt: 10_000 * i, hasPromises: true });
  };
  const links: Link[][] = [];
  const apis: Api[][] = [];
  const clients = plan.clients.map((clientPlan, i) => {
    const machine = machineOf(i);
    const storm = new Storm(machine.name, timeline, judge);
    const mine: Link[] = [];
    links.push(mine);
    apis.push(
      cluster.members.map(
        (member) => new Api(cluster, member, random.fork(`${machine.name} ids ${member.id}`)),
      ),
    );
    const drive = (host: string, on: Machine): SimulatedDriver => {
      const place = cluster.members.findIndex((member) => member.host === host);
      const api = apis[i]?.[place] as Api;
      const name = `${on.name} ${api.member.machine.name}`;
      const link = new Link(timeline, random.fork(name), { client: on, member: api.member });
      mine[place] = link;
      return new SimulatedDriver(link, api, () => storm.sent());
    };
    const client = new Client(machine.name, machine, {
      ...{ timeline, judge, holds, queues, product, drive },
      plan: clientPlan,
      hosts: cluster.members.map(({ host }) => host),
      mayMove: plan.faults.some(({ kind, client: at }) => kind === 'client moves' && at === i),
    });
    client.start();
    return client;
  });
  const another = (client: Client): Machine => machineOf(clients.indexOf(client), `${client.name}'`);
  const fate = new Machine(timeline, 'fate');
  return { timeline, judge, cluster, holds, queues, links, apis, clients, another, fate };
}
