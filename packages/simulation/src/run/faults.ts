import type { LinkFaults } from '../link.ts';
import type { Machine, Timeline } from '../timeline.ts';
import type { Client } from './client.ts';
import type { Holds } from './holds.ts';
import type { Judge } from './judge.ts';
import type { Fault } from './plan.ts';
import type { Access, Store, StoreMember } from './store.ts';

/** The parts of a simulated run that faults affect. */
export interface Stage {
  readonly timeline: Timeline;
  readonly judge: Judge;
  readonly fate: Machine;
  readonly store: Store;
  readonly clients: Client[];
  /** The connections of each client to the store. */
  readonly accesses: readonly Access[];
  /** Returns another simulated machine, on which a new process of the client runs. */
  readonly another: (client: Client) => Machine;
  readonly holds: Holds;
  readonly queues: readonly [string, string];
}

const SLOWEST_MS = 2_000;
const SOON_MS = 5_000;
const AT_ONCE: ReadonlySet<string> = new Set<Fault['kind']>([
  ...([
    'reset',
    'client crashes',
    'client closes',
    'client moves',
    'entry is removed',
    'compaction',
  ] as const),
]);
const OF_THE_STORE: ReadonlySet<string> = new Set<Fault['kind']>([
  'entry is removed',
  'stranger',
  'compaction',
]);

/** Makes a fault begin at its time, and end after its duration. */
export function befall(stage: Stage, fault: Fault): void {
  stage.fate.after(fault.atMs, () => {
    const members = membersOf(stage, fault);
    tellOf(stage, fault, members);
    const client = stage.clients[fault.client] as Client;
    const failure = FAILURES[fault.kind]?.(fault.degree);
    const places = members.map((member) => stage.store.members.indexOf(member));
    for (const place of failure ? places : [])
      stage.accesses[fault.client]?.links[place]?.problem(failure ?? {}, fault.forMs);
    if (fault.kind === 'reset')
      for (const place of places) stage.accesses[fault.client]?.links[place]?.reset();
    if (fault.kind.startsWith('member')) for (const member of members) befallMember(stage, fault, member);
    if (fault.kind.startsWith('client')) befallClient(stage, fault, client);
    if (fault.kind === 'entry is removed') removeEntry(stage, fault);
    if (fault.kind === 'stranger')
      stage.store.enterStranger(stage.queues[fault.degree < 0.5 ? 0 : 1], fault.forMs, fault.degree);
    if (fault.kind === 'denied') deny(stage, fault);
    if (fault.kind === 'compaction') stage.store.compact();
  });
}

function membersOf({ store, accesses }: Stage, { member, client }: Fault): readonly StoreMember[] {
  const { members } = store;
  if (member === 'all') return members;
  if (member === 'its own')
    return members.filter((_member, place) => (accesses[client]?.links[place]?.calls ?? 0) > 0);
  const leader = store.leader ?? members.at(0);
  if (member === 'followers') return members.filter((other) => other !== leader);
  if (member === 'leader') return members.filter((other) => other === leader);
  return members.slice(member, member + 1);
}

function tellOf({ judge, clients }: Stage, fault: Fault, members: readonly StoreMember[]): void {
  const { kind, forMs } = fault;
  const client = clients[fault.client]?.name ?? '';
  const where = members
    .map((member) => `${member.machine.name}${member.leads ? ' (leader)' : ''}`)
    .join(', ');
  const isOfMember = kind.startsWith('member');
  judge.note(
    `FAULT ${kind} for ${(forMs / 1_000).toString()} s: ${isOfMember ? where : `${client} at ${where}`}`,
  );
  judge.tell({
    type: 'fault',
    what: FAILURES[kind] || kind === 'reset' ? `${kind}, at ${where}` : kind,
    target: isOfMember ? where : OF_THE_STORE.has(kind) ? 'store' : client,
    forMs: AT_ONCE.has(kind) ? 0 : forMs,
  });
  if (kind === 'client pauses') judge.tell({ type: 'frozen', client, forMs });
}

const FAILURES: { readonly [kind in Fault['kind']]?: (degree: number) => LinkFaults } = {
  'requests lost': () => ({ there: 'lost' }),
  'requests late': () => ({ there: 'late' }),
  'replies lost': () => ({ back: 'lost' }),
  'replies late': () => ({ back: 'late' }),
  'cut off': () => ({ there: 'lost', back: 'lost' }),
  'cut off, late': () => ({ there: 'late', back: 'late' }),
  lossy: (degree) => ({ requestLost: degree * 0.4, replyLost: degree * 0.6 }),
  repeated: (degree) => ({ repeated: 0.5, slowMs: degree * SLOWEST_MS }),
  slow: (degree) => ({ slowMs: degree * SLOWEST_MS }),
  'slow answers': (degree) => ({ slowResponsesMs: degree * SLOWEST_MS }),
};

function befallMember({ store, fate }: Stage, fault: Fault, member: StoreMember): void {
  const after = (task: () => void): void => void fate.after(fault.forMs, task);
  if (fault.kind === 'member pauses') member.machine.pause(fault.forMs);
  if (fault.kind === 'member lags') {
    member.lagMs = fault.degree * SLOWEST_MS;
    after(() => (member.lagMs = 0));
  }
  if (fault.kind === 'member is cut from others') {
    member.isCut = true;
    after(() => store.heal(member));
  }
  if (fault.kind === 'member restarts' && member.isUp) {
    member.crash();
    after(() => store.restart(member));
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

function deny({ accesses, fate }: Stage, { client, forMs }: Fault): void {
  accesses[client]?.deny(true);
  fate.after(forMs, () => accesses[client]?.deny(false));
}

/**
 * Deletes an entry as an operator does: that of the holder, that of one of the next two waiters, or the
 * newest entry of the queue. The client of a removed waiter may receive no messages at that time.
 */
function removeEntry(stage: Stage, fault: Fault): void {
  const { store, holds, queues } = stage;
  const [queue] = queues;
  holds.stealIn(queue);
  const { degree } = fault;
  const place = degree < 0.4 ? 0 : degree < 0.6 ? 1 : degree < 0.8 ? 2 : -1;
  store.removeEntry(queue, place);
  if (place > 0) befall(stage, { ...fault, kind: 'replies late', member: 'all', atMs: 0 });
}
