import { expect } from 'chai';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Clients, freshQueue, newSpec } from './clients.ts';
import { startOwnServer } from './own-server.ts';

describe('an etcd server that limits the operations of a transaction (--max-txn-ops)', () => {
  const clients = new Clients();
  let server: ProcessService;

  afterEach(async () => {
    await clients.close();
    await server.stop();
  });

  for (const max of [2, 3, 4, 5])
    for (const heartbeatProof of ['strict', 'verified'] as const)
      it(`with a limit of ${max}, confirms the ${heartbeatProof} heartbeats of a session with four entries`, async () => {
        server = await startOwnServer({ 'max-txn-ops': max });
        const session = await clients.session({ hosts: server.endpoint, heartbeatProof });
        for (let i = 0; i < 4; i += 1) await session.enqueue(newSpec(freshQueue()));
        expect(await session.renew(new AbortController().signal)).to.be.greaterThan(0);
      });

  it('refuses an entry when the limit is 1, with a message that names the setting', async () => {
    server = await startOwnServer({ 'max-txn-ops': 1 });
    const session = await clients.session({ hosts: server.endpoint });
    const error: unknown = await session.enqueue(newSpec(freshQueue())).catch((failure: unknown) => failure);
    expect(error).to.have.property('code', 'INVALID_ARGUMENT');
    expect(error).to.have.property('message').that.includes('--max-txn-ops');
  });
});
