import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Etcd3, Range } from 'etcd3';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Clients, freshQueue, newSpec } from './clients.ts';
import { Operator } from './operator.ts';
import { startOwnServer } from './own-server.ts';
import { requestsOf } from './requests.ts';

const neverAborted = new AbortController().signal;
const alice = { username: 'alice', password: 'wonderland-4711' };
const root = { username: 'root', password: 'root-4711' };

// A signed token (JWT) contains the revision of the access rules. After a change of users or roles, the
// server refuses it as outdated.
describe('an etcd server with signed tokens after a change of a role', () => {
  let server: ProcessService;
  let directory: string;
  let admin: Etcd3;
  let changes = 0;
  const clients = new Clients();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'queuelock-test-'));
    const { publicKey, privateKey } = generateKeyPairSync('rsa', {
      modulusLength: 2_048,
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs1', format: 'pem' },
    });
    const [pub, priv] = [join(directory, 'public.pem'), join(directory, 'private.pem')];
    await Promise.all([writeFile(pub, publicKey), writeFile(priv, privateKey)]);
    server = await startOwnServer({
      'auth-token': `jwt,pub-key=${pub},priv-key=${priv},sign-method=RS256,ttl=10m`,
    });
    const operator = new Operator(server.endpoint);
    await operator.switchOnAccessControl({ root, user: alice, prefix: 'allowed/' });
    operator.close();
  });
  after(async () => {
    await server.stop();
    await rm(directory, { recursive: true });
  });
  afterEach(() => clients.close());

  async function changeARole(): Promise<void> {
    changes += 1;
    // A change of roles outdates the token of the client that makes it, so each change has a client of its own.
    admin = new Etcd3({ hosts: server.endpoint, auth: root });
    const role = admin.role(`role ${changes}`);
    await role.create();
    admin.close();
    const again = new Etcd3({ hosts: server.endpoint, auth: root });
    await again
      .role(`role ${changes}`)
      .grant({ permission: 'Read', range: Range.prefix(`nothing ${changes}/`) });
    again.close();
  }

  for (const transport of ['etcd3', 'http2', 'socket'] as const) {
    it(`lets holds, waits and heartbeats continue after a new log-in (${transport})`, async () => {
      const options = { hosts: server.endpoint, auth: alice, prefix: 'allowed/', transport };
      const [holding, waiting] = [await clients.session(options), await clients.session(options)];
      const queue = freshQueue();
      const held = newSpec(queue);
      await holding.enqueue(held);
      const turns = clients.follow(await waiting.enqueue(newSpec(queue)));
      await changeARole();
      // After the server has refused a token, the client treats the member as one behind a grpc-proxy, until
      // a watch shows otherwise. A heartbeat then proves only the remaining TTL of the lease, in whole
      // seconds.
      expect(await holding.renew(neverAborted)).to.be.within(holding.ttlMs - 1_000, holding.ttlMs);
      const other = newSpec(freshQueue());
      await waiting.enqueue(other);
      await changeARole();
      expect(await waiting.remove(other.queue, other.id)).to.equal(true);
      expect(await holding.remove(queue, held.id)).to.equal(true);
      await turns.untilAdmitted();
    });

    it(`refuses the next request of a client until the client has logged in again (${transport})`, async () => {
      const session = await clients.session({
        hosts: server.endpoint,
        auth: alice,
        prefix: 'allowed/',
        transport,
      });
      await session.enqueue(newSpec(freshQueue()));
      await changeARole();
      expect(await requestsOf(server.endpoint, () => session.enqueue(newSpec(freshQueue())))).to.equal(3);
    });
  }
});
