import type { Api } from '../etcd/api.ts';
import type { Cluster } from '../etcd/cluster.ts';
import type { Member } from '../etcd/member.ts';
import type { Link, Trouble } from '../link.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { Client } from './client.ts';
import type { Holds } from './holds.ts';
import type { Judge } from './judge.ts';
import { SINGLE, type Fault } from './plan.ts';
import { certainly } from './stranger.ts';

/** What faults can befall. */
export interface Stage {
  readonly timeline: Timeline;
  readonly judge: Judge;
  readonly fate: Machine;
  readonly cluster: Cluster;
  readonly clients: Client[];
  /** Of each client to each member. */
  readonly links: readonly (readonly Link[])[];
  readonly apis: readonly (readonly Api[])[];
  /** Another process of a client. */
  readonly another: (client: Client) => Machine;
  readonly holds: Holds;
  readonly queues: readonly [string, string];
}

const SLOWEST_MS = 2_000;
const SOON_MS = 5_000;

/** Lets a fault happen at its time, and end. */
export function befall(stage: Stage, fault: Fault): void {
  stage.fate.after(fault.atMs, () => {
    const members = membersOf(stage, fault);
    stage.judge.note(storyOf(stage, fault, members));
    const client = stage.clients[fault.client] as Client;
    const trouble = TROUBLES[fault.kind]?.(fault.degree);
    const places = members.map((member) => stage.cluster.members.indexOf(member));
    for (const place of trouble ? places : [])
      stage.links[fault.client]?.[place]?.trouble(trouble ?? {}, fault.forMs);
    if (fault.kind === 'reset') for (const place of places) stage.links[fault.client]?.[place]?.reset();
    if (fault.kind.startsWith('member')) for (const member of members) befallMember(stage, fault, member);
    if (fault.kind.startsWith('client')) befallClient(stage, fault, client);
    if (fault.kind === 'entry is removed') removeEntry(stage, fault);
    if (fault.kind === 'stranger') enterStranger(stage, fault);
    if (fault.kind === 'denied') deny(stage, fault);
    if (fault.kind === 'compaction') stage.cluster.compact();
  });
}

function membersOf({ cluster }: Stage, { member }: Fault): readonly Member[] {
  if (member === 'all') return cluster.members;
  const leader = cluster.terms.leader ?? cluster.members.at(0);
  if (member === 'followers') return cluster.members.filter((other) => other !== leader);
  if (member === 'leader') return cluster.members.filter((other) => other === leader);
  return cluster.members.slice(member, member + 1);
}

function storyOf({ clients }: Stage, { kind, client, forMs }: Fault, members: readonly Member[]): string {
  const where = members
    .map((member) => `${member.machine.name}${member.leads ? ' (leader)' : ''}`)
    .join(', ');
  const who = kind.startsWith('member') ? where : `${clients[client]?.name ?? ''} at ${where}`;
  return `FAULT ${kind} for ${(forMs / 1_000).toString()} s: ${who}`;
}

const TROUBLES: { readonly [kind in Fault['kind']]?: (degree: number) => Trouble } = {
  'requests lost': () => ({ there: 'lost' }),
  'requests late': () => ({ there: 'late' }),
  'replies lost': () => ({ back: 'lost' }),
  'replies late': () => ({ back: 'late' }),
  'cut off': () => ({ there: 'lost', back: 'lost' }),
  'cut off, late': () => ({ there: 'late', back: 'late' }),
  lossy: (degree) => ({ requestLost: degree * 0.4, replyLost: degree * 0.6 }),
  repeated: (degree) => ({ repeated: 0.5, slowMs: degree * SLOWEST_MS }),
  slow: (degree) => ({ slowMs: degree * SLOWEST_MS }),
  'slow answers': (degree) => ({ slowAnswersMs: degree * SLOWEST_MS }),
};

function befallMember({ cluster, fate }: Stage, fault: Fault, member: Member): void {
  const after = (task: () => void): void => void fate.after(fault.forMs, task);
  if (fault.kind === 'member pauses') member.machine.pause(fault.forMs);
  if (fault.kind === 'member lags') {
    member.lagMs = fault.degree * SLOWEST_MS;
    after(() => (member.lagMs = 0));
  }
  if (fault.kind === 'member is cut from others') {
    member.isCut = true;
    after(() => cluster.heal(member));
  }
  if (fault.kind === 'member restarts' && member.isUp) {
    member.crash();
    after(() => cluster.restart(member));
  }
}

function befallClient({ another, clients }: Stage, { kind, forMs, ...fault }: Fault, client: Client): void {
  if (kind === 'client pauses') client.machine.pause(forMs);
  if (kind === 'client crashes') client.crash();
  if (kind === 'client closes') client.close();
  if (kind !== 'client moves') return;
  const next = client.move(another(client), Math.min(forMs, SOON_MS));
  if (next) clients[fault.client] = next;
}

function deny({ apis, fate }: Stage, { client, forMs }: Fault): void {
  const denied = apis[client] ?? [];
  for (const api of denied) api.isDenied = true;
  fate.after(forMs, () => {
    for (const api of denied) api.isDenied = false;
  });
}

/** An operator deletes the entry that has been there for longest, or the newest. */
function removeEntry({ cluster, holds, queues, judge }: Stage, { degree }: Fault): void {
  const [queue] = queues;
  holds.stealIn(queue);
  certainly(cluster, (store) => {
    const rows = store.keyspace.rows({ key: `${queue}/`, end: `${queue}0` });
    const byAge = rows.sort((one, other) => one.create - other.create);
    const row = byAge.at(degree < 0.7 ? 0 : -1);
    if (row) judge.note(`an operator deletes ${row.key}`);
    return store.deleteRange({ key: Buffer.from(row?.key ?? 'nothing') });
  });
}

/** A client of another kind stands in line for a while, or takes the single key. */
function enterStranger({ cluster, fate, holds, queues, judge }: Stage, { forMs, degree }: Fault): void {
  const queue = queues[degree < 0.5 ? 0 : 1];
  const key = Buffer.from(queue === SINGLE.queue && degree < 0.75 ? SINGLE.key : `${queue}/stranger`);
  const compare = [{ target: 'Create', result: 'Equal', create_revision: '0', key }] as const;
  const success = [{ request_put: { key, value: Buffer.from('of a stranger') } }];
  certainly(cluster, (store) => {
    const answer = store.txn({ compare: [...compare], success });
    if (!('succeeded' in answer.body && answer.body.succeeded === true)) return answer;
    const isSingle = key.toString() === SINGLE.key;
    judge.note(`a stranger creates ${key.toString()}`);
    if (isSingle) holds.ofStranger(true);
    fate.after(forMs, () => {
      certainly(cluster, (later) => {
        judge.note(`the stranger deletes ${key.toString()}`);
        if (isSingle) holds.ofStranger(false);
        return later.deleteRange({ key });
      });
    });
    return answer;
  });
}
