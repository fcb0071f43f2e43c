import { expect } from 'chai';
import { Etcd3, Range } from 'etcd3';
import { fromUrl } from '@queuelock/etcd';
import { livedSince } from '@queuelock/harness/lived-time';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Connection } from '../src/server/connection.ts';
import { Lookups } from '../src/server/lookups.ts';
import { checkOptions } from '../src/api/options.ts';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { Operator } from './operator.ts';
import { startOwnServer } from './own-server.ts';

const neverAborted = new AbortController().signal;
const alice = { username: 'alice', password: 'wonderland-4711' };
const root = { username: 'root', password: 'root-4711' };

async function failureOf(promise: Promise<unknown>): Promise<Error & { readonly code?: unknown }> {
  const failure: unknown = await promise.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
  return failure as Error;
}

describe('etcd with authentication', () => {
  let server: ProcessService;
  const clients = new Clients();

  before(async () => {
    server = await startOwnServer();
    const operator = new Operator(server.endpoint);
    await operator.switchOnAccessControl({ root, user: alice, prefix: 'allowed/' });
    operator.close();
  });
  after(() => server.stop());
  afterEach(() => clients.close());

  it('lets a user with permission for one prefix acquire locks whose keys have that prefix', async () => {
    const backend = fromUrl(
      `etcd://${alice.username}:${alice.password}@${server.endpoint}/allowed?heartbeatProof=strict`,
    );
    const session = await backend.open(10_000, neverAborted);
    const placement = await session.enqueue(newSpec(freshQueue()));
    expect(placement.turn.admitted).to.equal(true);
    expect(placement.key).to.match(/^allowed\/q-/);
    expect(await session.renew(neverAborted)).to.equal(10_000);
    await session.close();
    await backend.close();
  });

  for (const [title, auth] of [
    ['a wrong password', { ...alice, password: 'mirror-4711' }],
    ['an unknown user', { username: 'nobody', password: 'mirror-4711' }],
  ] as const) {
    it(`refuses a log-in with ${title}, with ACCESS_DENIED and without the password in the message`, async () => {
      const failure = await failureOf(
        clients.backend({ hosts: server.endpoint, auth }).open(5_000, neverAborted),
      );
      expect(failure.code).to.equal('ACCESS_DENIED');
      expect(JSON.stringify([failure.message, failure.stack, String(failure.cause)])).not.to.include('4711');
    });
  }

  it('refuses, with ACCESS_DENIED, clients that do not log in', async () => {
    const backend = clients.backend({ hosts: server.endpoint, prefix: 'allowed/' });
    const opened = backend.open(5_000, neverAborted);
    // Some versions of etcd require no permission for leases. With them the session opens, and only the enqueue fails, since keys always require one.
    const failure = await failureOf(opened.then((session) => session.enqueue(newSpec(freshQueue()))));
    expect(failure.code).to.equal('ACCESS_DENIED');
  });

  it("refuses queues outside of the user's prefix with ACCESS_DENIED, even to observers", async () => {
    const elsewhere = { hosts: server.endpoint, auth: alice, prefix: 'elsewhere/' };
    const session = await clients.session(elsewhere);
    const queue = freshQueue();
    expect(await failureOf(session.enqueue(newSpec(queue)))).to.have.property('code', 'ACCESS_DENIED');
    expect(await failureOf(session.tryEnqueue(newSpec(queue)))).to.have.property('code', 'ACCESS_DENIED');
    let failure: unknown;
    const observing = clients
      .backend(elsewhere)
      .observe(queue)
      .subscribe({ error: (error: unknown) => (failure = error) });
    await eventually('the observer is refused', () => failure !== undefined);
    expect(failure).to.have.property('code', 'ACCESS_DENIED');
    observing.unsubscribe();
  });

  it('lists, in the error, all keys that a user without access to .queuelock/ needs', async () => {
    // The user may access the whole queue, whose keys are below allowed/, but not the keys in .queuelock/.
    const backend = clients.backend({ hosts: server.endpoint, auth: alice });
    const session = await backend.open(10_000, neverAborted);
    const failure = await failureOf(session.enqueue(newSpec('allowed')));
    expect(failure).to.have.property('code', 'ACCESS_DENIED');
    expect(failure.message)
      .to.include('"allowed"')
      .and.include('below "NAME/", NAME being the queue, and on all below ".queuelock/"');
  });

  it('reads the other keys of a batch when one key of the batch is forbidden', async () => {
    const connection = new Connection(checkOptions({ hosts: server.endpoint, auth: alice }));
    const lookups = new Lookups(connection);
    const replies = await Promise.allSettled(
      ['allowed/a', 'elsewhere/b', 'allowed/c'].map((key) =>
        lookups.read({ key: Buffer.from(key), createRevision: '1' }),
      ),
    );
    connection.close();
    expect(replies.map(({ status }) => status)).to.deep.equal(['fulfilled', 'rejected', 'fulfilled']);
    expect(replies[1]).to.have.nested.property('reason.code', 'ACCESS_DENIED');
  });

  for (const transport of ['etcd3', 'http2', 'socket'] as const)
    it(`does not end a user's holds when the permission for another queue is revoked (${transport})`, async () => {
      const admin = new Etcd3({ hosts: server.endpoint, auth: root });
      const operator = new Operator(server.endpoint, root);
      const role = admin.role(`of ${transport}`);
      const permission = (prefix: string) =>
        ({ permission: 'Readwrite', range: Range.prefix(`${transport}/${prefix}/`) }) as const;
      await role.create();
      for (const prefix of ['.queuelock', 'a', 'b']) await role.grant(permission(prefix));
      await admin.user(alice.username).addRole(role);
      const options = { hosts: server.endpoint, auth: alice, prefix: `${transport}/`, transport };
      const session = await clients.session(options);
      const [a, b] = [newSpec('a'), newSpec('b')];
      await session.enqueue(a);
      const kept = clients.follow(await session.enqueue(b));
      await session.renew(neverAborted);
      await role.revoke(permission('a'));
      for (let heartbeats = 0; heartbeats < 3; heartbeats += 1)
        expect(await session.renew(neverAborted)).to.equal(session.ttlMs);
      expect(await failureOf(session.remove('a', a.id))).to.have.property('code', 'ACCESS_DENIED');
      expect(kept.error).to.equal(undefined);
      await operator.remove(kept.key);
      await session.renew(neverAborted);
      expect(kept.error).to.have.property('code', 'ENTRY_LOST');
      for (const one of [admin, operator]) one.close();
    });

  for (const transport of ['etcd3', 'http2', 'socket'] as const)
    it(`admits waiters after a restart of the server, which has lost their auth tokens (${transport})`, async () => {
      const options = { hosts: server.endpoint, auth: alice, prefix: 'allowed/', transport };
      const [holding, waiting] = [
        await clients.session(options, 30_000),
        await clients.session(options, 30_000),
      ];
      const queue = freshQueue();
      const held = newSpec(queue);
      await holding.enqueue(held);
      const turns = clients.follow(await waiting.enqueue(newSpec(queue)));
      await waiting.renew(neverAborted);
      await server.kill();
      await server.restart();
      await eventually(
        'the waiter renews',
        async () => (await waiting.renew(neverAborted).catch(() => 0)) > 0,
      );
      await eventually('the holder is out', () => holding.remove(queue, held.id).catch(() => false));
      const removedAt = performance.now();
      await turns.untilAdmitted();
      // A shorter wait than 5 s shows that the waiter was notified of the removal. Without a notification it would read again only after 10 s.
      expect(livedSince(removedAt)).to.be.lessThan(5_000);
    });
});
