import { expect } from 'chai';
import { cohort, election, type ElectionErrorEvent } from '../src/index.ts';
import { MemoryStage } from './election-stage.ts';
import { follow } from './frame.ts';

describe('states of recipes as JSON', () => {
  let stage: MemoryStage;
  beforeEach(() => {
    stage = new MemoryStage();
  });
  afterEach(() => stage.close());

  const parsed = (state: unknown): unknown => JSON.parse(JSON.stringify(state));

  it('contain order numbers and fencing tokens as strings', async () => {
    const client = stage.client();
    const own = election(client, 'x', { value: 'a' });
    const [leader, candidates] = [follow(own.leader$), follow(own.candidates$)];
    const leadership = await own.campaign();
    await stage.settle();
    const { key, id, order, token, name } = leadership;
    const candidate = { value: 'a', key, order: String(order) };
    expect(parsed(leader.last)).to.deep.equal({ status: 'live', leader: candidate });
    expect(parsed(candidates.last)).to.deep.equal({ status: 'live', candidates: [candidate] });
    expect(parsed(leadership)).to.deep.equal({
      ...{ name, id, key, order: String(order), token: String(token), value: 'a', held: true },
      remainingMs: leadership.remainingMs,
    });
    await leadership.resign();
    expect(parsed(leadership)).to.include({ held: false, remainingMs: 0 });
    for (const { stop } of [leader, candidates]) stop();
    await stage.settle();
  });

  it('show why a candidacy failed', async () => {
    await stage.client().acquire('x');
    const own = election(stage.client(), 'x', { value: 'a', clock: stage.clock });
    const failures: ElectionErrorEvent[] = [];
    own.errors$.subscribe((failure) => failures.push(failure));
    const candidacy = follow(own.candidacy$);
    await stage.settle();
    stage.server.evict(stage.server.queues().get('x')![1]!.key);
    await stage.settle();
    expect(parsed(failures[0])).to.have.nested.property('error.code', 'ENTRY_LOST');
    expect(parsed(failures[0])).to.have.property('retryInMs').that.is.a('number');
    candidacy.stop();
    await stage.settle();
  });

  it('show a hold of a cohort', async () => {
    const client = stage.client();
    const shared = cohort(client, 'c');
    const hold = await shared.acquire();
    expect(parsed(hold)).to.include({ name: 'c', token: String(hold.token), held: true });
    await shared.close();
  });
});
