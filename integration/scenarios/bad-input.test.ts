import { createHash } from 'node:crypto';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { safely } from '@queuelock/conformance';
import {
  createLockClient,
  isQueueLockError,
  type AcquireOptions,
  type Backend,
  type LockClient,
  type LockClientOptions,
  type QueueLockError,
} from '@queuelock/core';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { callGateway, withSession } from '@queuelock/harness/services/plain-clients';
import { startOwnEtcd } from './etcd-store.ts';
import { stores } from './stores.ts';
import type { Site } from './store.ts';
import { expectUnreachable } from './unreachable.ts';
import { soon, untilNothingIsLeft } from './wait.ts';
import { zooKeeperStore } from './zookeeper-store.ts';

const odd = [
  ' ', '.', '..', '/', '//', '/a', 'a/', 'a//b', './a', '../a', 'a/../b', '%', '%2F', '%00', '~', '*', '?', '#', '&=', '\\', '"', "'",
  'a\nb', '\0', 'tab\there', '\u007f', '\u0085', 'é', 'e\u0301', 'ÄÖÜ', '日本語', 'שלום', '\u202e', '\u200b', '\ufeff', '\ufffd', '\uffff', '\ue000',
  '🔒', '👩‍👩‍👧', '\u{10ffff}', 'lock-0000000001', '_c_x-lock-0000000001', '.queuelock', '.queuelock/x', 'zookeeper', 'zookeeper/quota',
  '__proto__', 'constructor', 'x'.repeat(512), 'é'.repeat(256),
]; // oxfmt-ignore

for (const store of stores) {
  describe(`queuelock with unusual or invalid input, over ${store.name}`, function () {
    this.timeout(60_000);
    let site: Site;
    let client: LockClient;

    before(async () => {
      site = await store.share('bad input');
      client = createLockClient(site.backend());
    });

    after(async () => {
      await client.close();
    });

    it('gives every unusual name its own lock, or rejects it with an error that names the argument', async () => {
      const refused: string[] = [];
      const held = await Promise.all(
        odd.map(async (name) => {
          try {
            return await soon(client.acquire(name), `the lock ${JSON.stringify(name)} is granted`);
          } catch (error) {
            expectInvalid(error, 'name');
            refused.push(name);
            return undefined;
          }
        }),
      );
      expect(refused.length).to.be.lessThan(5);
      // The locks of all accepted names are held at the same time, so no two names share a queue. A second
      // claim of each name must find its lock held.
      for (const ownership of held) {
        if (ownership) await expectTaken(client, ownership.name);
        await ownership?.release();
      }
    });

    for (const [what, name] of Object.entries({
      'no name': '',
      'a name that is too long': 'x'.repeat(513),
      'a name that is too long in UTF-8': 'é'.repeat(257),
      'half a character': '\ud800',
      'no text': undefined as unknown as string,
      'a number': 7 as unknown as string,
    })) {
      it(`rejects an invalid name in every function: ${what}`, async () => {
        expectInvalid(await failureOf(() => client.acquire(name)), 'name');
        expectInvalid(await failureOf(() => client.tryAcquire(name)), 'name');
        expectInvalid(await failureOf(() => client.run(name, () => undefined)), 'name');
        expectInvalid(await failureOf(() => client.claim(name)), 'name');
        expectInvalid(await failureOf(() => client.watch(name)), 'name');
      });
    }

    it('grants a lock and the locks of its nested names at the same time, in any order', async () => {
      const names = ['nest', 'nest/a', 'nest/a/b', 'nest/c'];
      for (const order of [names, [...names].reverse()]) {
        const held = [];
        for (const name of order) held.push(await soon(client.acquire(name), `${name} is granted`));
        for (const name of order) await expectTaken(client, name);
        for (const ownership of held) await soon(ownership.release(), 'it is released');
      }
    });

    for (const [argument, options] of Object.entries<AcquireOptions>({
      timeoutMs: { timeoutMs: -1 },
      'timeoutMs ': { timeoutMs: NaN },
      signal: { signal: {} as AbortSignal },
      owner: { owner: 7 as unknown as string },
      'metadata as JSON': { metadata: { note: 'x'.repeat(600), more: 'y'.repeat(600) } },
      'metadata.long': { metadata: { long: 'x'.repeat(2_000) } },
      'metadata.note': { metadata: { note: 7 as unknown as string } },
    })) {
      it(`rejects an acquisition with an invalid ${argument}, and leaves no entry`, async () => {
        expectInvalid(await failureOf(() => client.acquire('options', options)), argument.trim());
        expect(await site.entries('options')).to.be.empty;
      });
    }

    for (const [argument, options] of Object.entries<LockClientOptions>({
      ttlMs: { ttlMs: 999 },
      'ttlMs ': { ttlMs: Infinity },
      safetyMarginMs: { safetyMarginMs: -1 },
      heartbeatIntervalMs: { heartbeatIntervalMs: 0 },
      connectTimeoutMs: { connectTimeoutMs: 0 },
    })) {
      it(`rejects a client with an invalid ${argument} before it connects`, async () => {
        expectInvalid(await failureOf(() => createLockClient(site.backend(), options)), argument.trim());
      });
    }

    it('accepts a TTL below the minimum of the server, which grants a longer one', async () => {
      const short = createLockClient(site.backend(), { ttlMs: site.backend().info.minTtlMs });
      try {
        const ownership = await short.acquire('short');
        const granted = await sessionTtl(short);
        expect(granted).to.be.at.least(site.backend().info.minTtlMs);
        expect(ownership.remainingMs).to.be.at.most(granted);
        await ownership.release();
      } finally {
        await short.close();
      }
    });

    it('rejects with the reason of a signal that has already aborted, and leaves no entry', async () => {
      const reason = new Error('not today');
      const signal = AbortSignal.abort(reason);
      for (const call of [
        () => client.acquire('aborted', { signal }),
        () => client.tryAcquire('aborted', { signal }),
        () => client.run('aborted', neverRun, { signal }),
      ]) {
        expect(await failureOf(call)).to.equal(reason);
      }
      await untilNothingIsLeft(site, 'aborted');
    });

    it('reports an unreachable server by its address, within connectTimeoutMs', async () => {
      await using proxy = await startProxy(site.endpoint);
      proxy.refuse();
      await expectUnreachable(site, proxy.endpoint);
    });

    it('rejects every call of a closed client with CLOSED, except a second call of close', async () => {
      const closed = createLockClient(site.backend());
      const ownership = await closed.acquire('closed');
      const waiting = closed.acquire('closed').catch((error: unknown) => error);
      await closed.close();
      await closed.close();
      expect(ownership.held).to.equal(false);
      expect(ownership.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
      expect(await waiting).to.include({ code: 'CLOSED' });
      await ownership.release();
      for (const call of [
        () => closed.acquire('closed'),
        () => closed.tryAcquire('closed'),
        () => closed.run('closed', neverRun),
      ]) {
        expect(await failureOf(call)).to.include({ code: 'CLOSED' });
      }
      await untilNothingIsLeft(site, 'closed');
    });
  });
}

describe('an invalid backend URL', () => {
  for (const url of [
    'oracle://user:secret@127.0.0.1:1521',
    'postgres://user:secret@127.0.0.1,127.0.0.2/locks',
    'postgres://user:secret@127.0.0.1/locks?sslmode=prefer',
    'mysql://user:secret@127.0.0.1',
    'redis://user:secret@127.0.0.1:x',
    'redis://user:secret@127.0.0.1/locks',
    'etcd',
    '',
    'etcd://127.0.0.1:0',
    'etcd://127.0.0.1:99999',
    'etcd://user:secret@host:port',
    'etcd://127.0.0.1?no=such',
    'zk://127.0.0.1?tickTimeMs=fast',
    'zk://user:secret@127.0.0.1:x',
    'zks://user:secret@127.0.0.1?transport=native',
    'zks://user:secret@127.0.0.1?ca=/no/such/file',
  ]) {
    it(`is rejected without showing its secrets: ${JSON.stringify(url)}`, async () => {
      const error = (await failureOf(() => backendFromUrl(url))) as Error;
      expect(error).to.be.instanceOf(Error);
      expect(error.message).to.not.contain('secret');
    });
  }
});

describe('a TTL that is too short for ZooKeeper', () => {
  it('is rejected before the client connects, with an error that states the minimum', async () => {
    const error = await failureOf(async () =>
      createLockClient(await backendFromUrl('zk://zk1'), { ttlMs: 13_999 }),
    );
    expectInvalid(error, 'ttlMs');
    expect((error as Error).message).to.match(
      /from 14000 to \d+ on zookeeper: \(syncLimit 5 \+ 2\) x tickTime 2000 ms; set tickTimeMs and syncLimit .* got 13999$/,
    );
  });

  it('is rejected, and not retried, when the servers grant a shorter TTL than queuelock needs', async () => {
    const { endpoint } = await zooKeeperStore.share('TTL');
    const error = await refusalOf(await backendFromUrl(`zk://${endpoint}`));
    expectInvalid(error, 'ttlMs');
    expect(error.message).to.match(/grants \d+ ms \(its maxSessionTimeout, .*at least 14000 ms are needed/);
  });
});

describe('invalid credentials', function () {
  this.timeout(60_000);

  it('make etcd reject immediately with ACCESS_DENIED, in an error without the password', async () => {
    const site = await startOwnEtcd('credentials');
    try {
      await switchOnAuthentication(site.endpoint);
      const right = createLockClient(site.backend(`root:right@${site.endpoint}`));
      await (await right.acquire('job')).release();
      await right.close();
      for (const who of ['root:wrong@', 'nobody:right@', '']) {
        const error = await refusalOf(site.backend(`${who}${site.endpoint}`));
        expect(error.code, who).to.equal('ACCESS_DENIED');
        expect(error.message).to.not.match(/wrong|right/);
      }
    } finally {
      await site.server.stop();
    }
  });

  it('are rejected with ACCESS_DENIED when the nodes in ZooKeeper have an access control list', async () => {
    const site = await zooKeeperStore.share('credentials');
    const { endpoint } = site;
    await makeDirectoryOf(endpoint, { path: '/secured', user: 'me', password: 'right' });
    const urlOf = (who: string): string => site.url(`${who}${endpoint}/secured`);
    for (const who of ['me:wrong@', 'you:right@', '']) {
      const error = await refusalOf(await backendFromUrl(urlOf(who)));
      expect(error.code, who).to.equal('ACCESS_DENIED');
      expect(error.message).to.not.match(/wrong|right/);
    }
    const right = createLockClient(await backendFromUrl(urlOf('me:right@')));
    await (await right.acquire('job')).release();
    await right.close();
  });
});

function expectInvalid(error: unknown, argument: string): void {
  if (!isQueueLockError(error)) throw error;
  expect(error.code, error.message).to.equal('INVALID_ARGUMENT');
  expect(error.message).to.match(new RegExp(`^\\[INVALID_ARGUMENT\\] ${argument} .*; got `, 's'));
}

async function expectTaken(client: LockClient, name: string): Promise<void> {
  const second = await client.tryAcquire(name);
  safely(() => expect(second, name).to.equal(undefined));
}

function neverRun(): void {
  expect.fail('it ran without the lock');
}

async function failureOf(call: () => unknown): Promise<unknown> {
  try {
    await call();
  } catch (error) {
    return error;
  }
  return expect.fail('it did not fail');
}

function sessionTtl(client: LockClient): Promise<number> {
  return new Promise((resolve) => {
    client.session$.subscribe(({ ttlMs }) => ttlMs !== undefined && resolve(ttlMs)).unsubscribe();
  });
}

async function refusalOf(backend: Backend): Promise<QueueLockError> {
  const client = createLockClient(backend);
  const error = await soon(
    failureOf(() => client.acquire('job')),
    'it is refused',
  );
  await client.close();
  return error as QueueLockError;
}

async function makeDirectoryOf(
  endpoint: string,
  { path, user, password }: { path: string; user: string; password: string },
): Promise<void> {
  const digest = createHash('sha1').update(`${user}:${password}`).digest('base64');
  const acl = [{ perms: 31, scheme: 'digest', auth: `${user}:${digest}` }];
  await withSession(endpoint, (session, done) => session.a_create(path, '', 0, done));
  await withSession(endpoint, (session, done) => session.a_set_acl(path, -1, acl, done));
}

async function switchOnAuthentication(endpoint: string): Promise<void> {
  await callGateway(endpoint, 'auth/user/add', { name: 'root', password: 'right' });
  await callGateway(endpoint, 'auth/role/add', { name: 'root' });
  await callGateway(endpoint, 'auth/user/grant', { user: 'root', role: 'root' });
  await callGateway(endpoint, 'auth/enable', {});
}
