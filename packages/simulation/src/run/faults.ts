import type { Api } from '../etcd/api.ts';
import type { Cluster } from '../etcd/cluster.ts';
import type { Member } from '../etcd/member.ts';
import type { Link, Trouble } from '../link.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { Client } from './client.ts';
import type { Judge } from './judge.ts';
import type { Fault } from './plan.ts';

/** What faults can befall. */
export interface Stage {
  readonly timeline: Timeline;
  readonly judge: Judge;
  readonly fate: Machine;
  readonly cluster: Cluster;
  readonly clients: readonly Client[];
  /** Of each client to each member. */
  readonly links: readonly (readonly Link[])[];
  readonly apis: readonly (readonly Api[])[];
}

const SLOWEST_MS = 2_000;

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
    if (fault.kind.startsWith('client')) befallClient(fault, client);
    if (fault.kind === 'denied') deny(stage, fault);
    if (fault.kind === 'compaction') stage.cluster.store.compact(stage.cluster.store.keyspace.revision);
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

function befallClient({ kind, forMs }: Fault, client: Client): void {
  if (kind === 'client pauses') client.machine.pause(forMs);
  if (kind === 'client crashes') client.crash();
  if (kind === 'client closes') client.close();
}

function deny({ apis, fate }: Stage, { client, forMs }: Fault): void {
  const denied = apis[client] ?? [];
  for (const api of denied) api.isDenied = true;
  fate.after(forMs, () => {
    for (const api of denied) api.isDenied = false;
  });
}
