import { expect } from 'chai';
import { safely } from '@queuelock/conformance';
import { startConsul, type ConsulService } from '@queuelock/harness/services';
import { orSkip } from '@queuelock/harness/services/skip';
import { goLock, oursSingleKey, type Kind } from './kinds.ts';
import { judge, type Hold } from './judge.ts';
import { endOf, freshName } from './mix.ts';
import { endParticipants, startParticipants, type Participant, type Task } from './participant.ts';

const MIN_TTL_MS = 100;
const TTL_MS = 1_000;
/** TTL in milliseconds, so long that a session survives even when a busy machine delays its heartbeats. */
const CALM_TTL_MS = 10_000;
const ROUNDS = 20;
const HOLD_MS = 5;

/**
 * Returns a description of each pair of holds that overlap in time. The order of grants cannot be checked:
 * Consul's own clients have no number that can be compared with queuelock's order numbers.
 */
function overlaps(holds: readonly Hold[]): readonly string[] {
  const ordered = holds.toSorted((a, b) => (a.from < b.from ? -1 : 1));
  return ordered.slice(1).flatMap((hold, at) => {
    const earlier = ordered.slice(0, at + 1).filter((other) => other.to > hold.from);
    return earlier.map((other) => `${hold.id} held while ${other.id} did (rounds ${hold.n}, ${other.n})`);
  });
}

function holdsOf(participants: readonly Participant[]): readonly Hold[] {
  return judge(participants.flatMap(({ events }) => events)).holds;
}

function expectExclusive(participants: readonly Participant[]): void {
  const found = overlaps(holdsOf(participants));
  safely(() => expect(found, found.join('\n')).to.be.empty);
}

describe('one key of Consul that queuelock and Consul’s Go client lock', function () {
  this.timeout(180_000);
  let server: ConsulService;

  before(async () => {
    server = await startConsul({ way: 'process' });
  });
  afterEach(endParticipants);
  after(() => server.stop());

  function taskOf(kind: Kind, own: Pick<Task, 'id' | 'name' | 'rounds' | 'holdMs' | 'ttlMs'>): Task {
    const { endpoint } = server;
    return { kind, endpoint, url: `consul://${endpoint}?minTtlMs=${MIN_TTL_MS}`, ...own };
  }

  for (const each of [1, 3])
    it(`is held by one client at a time while clients contend, ${each} of each library`, async function () {
      const name = freshName('consul');
      const own = { name, rounds: ROUNDS, holdMs: HOLD_MS, ttlMs: CALM_TTL_MS };
      const tasks = [oursSingleKey, goLock].flatMap((kind) =>
        Array.from({ length: each }, (_, nth) => taskOf(kind, { ...own, id: `${kind.title} ${nth}` })),
      );
      const participants = await orSkip(this, startParticipants(tasks));
      const [first] = await startParticipants([
        taskOf(oursSingleKey, { ...own, id: 'first', rounds: 1, holdMs: -1 }),
      ]);
      first!.tell();
      await first!.untilEvent('acquired');
      for (const participant of participants) participant.tell();
      await Promise.all(participants.map((participant) => participant.untilEvent('requesting')));
      first!.tell();
      await endOf([first!, ...participants]);
      expectExclusive([first!, ...participants]);
      const events = participants.flatMap((participant) => participant.events);
      expect(events.filter(({ ev }) => ev === 'failed' || ev === 'lost')).to.deep.equal([]);
      expect(holdsOf(participants)).to.have.length(tasks.length * ROUNDS);
    });

  for (const [dying, next] of [
    [oursSingleKey, goLock],
    [goLock, oursSingleKey],
  ] as const)
    for (const lapse of ['crash', 'freeze'] as const)
      it(`passes from the holder (${dying.title}) to the waiter (${next.title}) after the holder's ${lapse}`, async function () {
        const name = freshName('consul-lapse');
        const own = { name, rounds: 1, holdMs: -1, ttlMs: TTL_MS };
        const [holder, waiter] = (await orSkip(
          this,
          startParticipants([
            taskOf(dying, { ...own, id: 'holder' }),
            taskOf(next, { ...own, id: 'waiter' }),
          ]),
        )) as [Participant, Participant];
        holder.tell();
        await holder.untilEvent('acquired');
        waiter.tell();
        await waiter.untilEvent('requesting');
        await (lapse === 'crash' ? holder.crash() : holder.freeze());
        await waiter.untilEvent('acquired');
        if (lapse === 'freeze') {
          holder.thaw();
          await holder.untilEvent('lost');
          await endOf([holder]);
        }
        expect(waiter.events.some(({ ev }) => ev === 'lost')).to.equal(false);
        waiter.tell();
        await endOf([waiter]);
        expectExclusive([holder, waiter]);
      });
});

describe('the check for overlapping holds (control)', () => {
  const hold = (id: string, from: number, to: number): Hold => ({
    id,
    n: 1,
    from: BigInt(from),
    to: BigInt(to),
    token: BigInt(from),
  });

  it('reports each hold that begins during an earlier hold', () => {
    expect(overlaps([hold('a', 0, 9), hold('b', 1, 2), hold('c', 3, 4)])).to.have.length(2);
  });

  it('accepts holds that follow one another without an overlap', () => {
    expect(overlaps([hold('b', 2, 4), hold('a', 0, 2)])).to.be.empty;
  });
});
