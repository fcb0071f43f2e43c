import { expect } from 'chai';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Clients, freshQueue, newSpec, type TurnLog } from './clients.ts';
import { Operator } from './operator.ts';
import { startOwnServer } from './own-server.ts';

const neverAborted = new AbortController().signal;

describe('an etcd server without free space', () => {
  let server: ProcessService;
  let operator: Operator;
  const clients = new Clients();

  before(async () => {
    server = await startOwnServer({ 'quota-backend-bytes': 4_000_000 });
    operator = new Operator(server.endpoint);
  });
  after(async () => {
    await clients.close();
    operator.close();
    await server.stop();
  });

  it('keeps holds, accepts releases, and refuses enqueues with an error that names the remedy', async () => {
    const session = await clients.session({ hosts: server.endpoint, heartbeatProof: 'strict' });
    const reading = await clients.session({
      hosts: server.endpoint,
      heartbeatProof: 'verified',
      naming: 'fast',
    });
    const lines = [session, reading].map((by) => {
      const queue = freshQueue();
      return { by, queue, held: newSpec(queue), waiting: newSpec(queue) };
    });
    const turns: TurnLog[] = [];
    for (const { by, held, waiting } of lines) {
      await by.enqueue(held);
      turns.push(clients.follow(await by.enqueue(waiting)));
    }
    await operator.fillUp();
    const found = await clients.backend({ hosts: server.endpoint }).diagnose!('');
    const errors = found.filter(({ level }) => level === 'error').map(({ text }) => text);
    expect(errors.join()).to.contain('(alarm NOSPACE)').and.contain('--quota-backend-bytes');
    for (const [i, { by, queue, held, waiting }] of lines.entries()) {
      const failure: unknown = await by.enqueue(newSpec(queue)).catch((error: unknown) => error);
      expect(failure).to.have.property('code', 'UNAVAILABLE');
      expect(failure).to.have.property('message').that.includes('disarm the alarm');
      expect(failure).to.have.property('responded', true);
      expect(await by.renew(neverAborted)).to.equal(by.ttlMs);
      expect(await by.remove(queue, held.id)).to.equal(true);
      await turns[i]!.untilAdmitted();
      expect(await by.remove(queue, waiting.id)).to.equal(true);
    }
  });
});
