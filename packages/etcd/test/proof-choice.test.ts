import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import { Subject, type Observable } from 'rxjs';
import type { Connection, Endpoint } from '../src/server/connection.ts';
import type { HeartbeatProof } from '../src/api/options.ts';
import { ProofChoice } from '../src/session/proof-choice.ts';
import type { MemberFacts } from '../src/server/read-trust.ts';

/** Two fake members of a cluster, whose replies the test sends. */
class Members {
  readonly endpoints = ['a:1', 'b:1'].map((host) => ({ host }) as Endpoint);
  readonly #failures$ = new Subject<Endpoint>();
  readonly failures$: Observable<Endpoint> = this.#failures$;
  readonly requested: { host: string; answer: (facts: MemberFacts) => void; fail: () => void }[] = [];

  status = ({ host }: Endpoint): Promise<MemberFacts> =>
    new Promise((answer, reject) => {
      this.requested.push({ host, answer, fail: () => reject(new Error('no answer')) });
    });

  choice(heartbeats: HeartbeatProof = 'auto', lines: string[] = []): ProofChoice {
    return new ProofChoice(this as unknown as Connection, heartbeats, (line) => lines.push(line));
  }

  /** Emits that a request to the member with this index has failed, as a connection does. */
  fail(index: number): void {
    this.#failures$.next(this.endpoints[index]!);
  }

  /** Replies to all pending requests for the status of a member, with the given version. */
  async tell(version: string, term = '7'): Promise<void> {
    for (const { host, answer } of this.requested.splice(0))
      answer({ version, term, member: host, leader: 'a:1' });
    await setImmediate();
  }
}

describe('the choice of the heartbeat proof', () => {
  it('is a write (strict) until every member has reported its version', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.requested.map(({ host }) => host)).to.deep.equal(['a:1', 'b:1']);
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(false);
    expect(members.requested).to.deep.equal([]);
  });

  it("stays strict when a member's version may return stale reads", async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    await members.tell('3.4.23');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.requested).to.deep.equal([]);
  });

  it('determines from the versions of the members whether one of them may lose watch events', async () => {
    const members = new Members();
    const choice = members.choice();
    expect(choice.mayLoseEvents).to.equal(true);
    expect(members.requested).to.deep.equal([]);
    choice.prepare('7');
    await members.tell('3.5.18');
    expect(choice.mayLoseEvents).to.equal(false);
    members.fail(0);
    expect(choice.mayLoseEvents).to.equal(true);
  });

  it('is made again, after new reads of the versions, in a new Raft term', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    await members.tell('3.5.30');
    expect(choice.strictIn('8')).to.equal(true);
    expect(members.requested).to.have.length(2);
    await members.tell('3.5.30', '8');
    expect(choice.strictIn('8')).to.equal(false);
  });

  it('is not made again when a replaced leader responds with an older Raft term', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('8');
    await members.tell('3.5.30', '8');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.requested).to.deep.equal([]);
  });

  it('is repeated for a member to which a request has failed', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    await members.tell('3.5.30');
    members.fail(1);
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.requested.map(({ host }) => host)).to.deep.equal(['b:1']);
    await members.tell('3.5.27');
    expect(choice.strictIn('7')).to.equal(true);
  });

  it("ignores a member's version if another request to that member failed after the version was requested", async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    members.fail(0);
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.requested.map(({ host }) => host)).to.deep.equal(['a:1']);
  });

  it('reads the version of a member again with the next heartbeat if the read has failed', async () => {
    const members = new Members();
    const choice = members.choice();
    choice.prepare('7');
    members.requested.splice(1)[0]!.fail();
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(true);
    expect(members.requested.map(({ host }) => host)).to.deep.equal(['b:1']);
    await members.tell('3.5.30');
    expect(choice.strictIn('7')).to.equal(false);
  });

  it('logs its reason and its cost in one line, and only once', async () => {
    const members = new Members();
    const lines: string[] = [];
    const choice = members.choice('auto', lines);
    choice.prepare('7');
    await members.tell('3.4.23');
    choice.strictIn('8');
    await members.tell('3.4.23', '8');
    expect(lines).to.have.length(1);
    expect(lines[0]).to.match(/a:1 runs 3\.4\.23.*fixed in 3\.4\.42/);
    expect(lines[0]).to.include('a round of consensus per heartbeat and session');
  });

  for (const heartbeats of ['verified', 'strict'] as const) {
    it(`is "${heartbeats}", without a request, when the option heartbeatProof sets it`, () => {
      const members = new Members();
      const choice = members.choice(heartbeats);
      choice.prepare('7');
      expect(choice.strictIn('7')).to.equal(heartbeats === 'strict');
      expect(members.requested).to.deep.equal([]);
    });
  }
});
