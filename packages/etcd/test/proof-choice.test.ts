import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { Subject, type Observable } from 'rxjs';
import type { Connection, Endpoint } from '../src/server/connection.ts';
import type { HeartbeatProof } from '../src/api/options.ts';
import { ProofChoice } from '../src/session/proof-choice.ts';
import type { MemberFacts } from '../src/server/read-trust.ts';

/** Two members that answer when the test says so. */
class Members {
  readonly endpoints = ['a:1', 'b:1'].map((host) => ({ host }) as Endpoint);
  readonly #trouble$ = new Subject<Endpoint>();
  readonly trouble$: Observable<Endpoint> = this.#trouble$;
  readonly asked: { host: string; answer: (facts: MemberFacts) => void; fail: () => void }[] = [];

  status = ({ host }: Endpoint): Promise<MemberFacts> =>
    new Promise((answer, reject) => {
      this.asked.push({ host, answer, fail: () => reject(new Error('no answer')) });
    });

  choice(beats: HeartbeatProof = 'auto', lines: string[] = []): ProofChoice {
    return new ProofChoice(this as unknown as Connection, beats, (line) => lines.push(line));
  }

  /** A request to this one failed. */
  fail(index: number): void {
    this.#trouble$.next(this.endpoints[index]!);
  }

  /** Everybody who was asked runs this version. */
  async tell(version: string, term = '7'): Promise<void> {
    for (const { host, answer } of this.asked.splice(0))
      answer({ version, term, member: host, leader: 'a:1' });
    await setImmediate();
  }
}

describe('the choice of how heartbeats are proven', () => {
  it('is the stricter one until every member has told its version, and then what the versions allow', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.asked.map(({ host }) => host)).to.deep.equal(['a:1', 'b:1']);
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(false);
    expect(members.asked).to.deep.equal([]);
  });

  it('stays the stricter one where a version has the bug, without asking again', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    await members.tell('3.4.23');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.asked).to.deep.equal([]);
  });

  it('tells besides whether some member may lose events, without asking anybody', async () => {
    const members = new Members();
    const choice = members.choice();
    expect(choice.mayLoseEvents).to.equal(true);
    expect(members.asked).to.deep.equal([]);
    choice.prepare('7');
    await members.tell('3.5.18');
    expect(choice.mayLoseEvents).to.equal(false);
    members.fail(0);
    expect(choice.mayLoseEvents).to.equal(true);
  });

  it('is made anew in a new Raft term', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    await members.tell('3.5.30');
    expect(choice.strictIn('8')).to.equal(true);
    expect(members.asked).to.have.length(2);
    await members.tell('3.5.30', '8');
    expect(choice.strictIn('8')).to.equal(false);
  });

  it('asks nobody again for a term that is older than what members have told: a leader that was replaced may go on to answer', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('8');
    await members.tell('3.5.30', '8');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.asked).to.deep.equal([]);
  });

  it('is made anew for a member whose requests failed', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    await members.tell('3.5.30');
    members.fail(1);
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.asked.map(({ host }) => host)).to.deep.equal(['b:1']);
    await members.tell('3.5.27');
    expect(choice.strictIn('7')).to.equal(true);
  });

  it('does not count an answer that was asked for before the trouble', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    members.fail(0);
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.asked.map(({ host }) => host)).to.deep.equal(['a:1']);
  });

  it('asks a member that did not answer again with the next heartbeat', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    members.asked.splice(1)[0]!.fail();
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.asked.map(({ host }) => host)).to.deep.equal(['b:1']);
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(false);
  });

  it('says why and at what price in one line, and says it once', async () => {
    const members = new Members();
    const lines: string[] = [];
    const choice = members.choice('auto', lines);
    choice.prepare('7');
    await members.tell('3.4.23');
    choice.strictIn('8');
    await members.tell('3.4.23', '8');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/a:1 runs 3\.4\.23.*fixed in 3\.4\.42/);
    expect(lines[0]).to.include('a round of consensus per beat and session');
  });

  for (const beats of ['verified', 'strict'] as const) {
    it(`is "${beats}" where the caller says so, and asks nobody`, () => {
      const members = new Members();
      const choice = members.choice(beats);
      choice.prepare('7');
      expect(choice.strictIn('7')).to.equal(beats === 'strict');
      expect(members.asked).to.deep.equal([]);
    });
  }
});
