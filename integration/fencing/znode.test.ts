import { once } from 'node:events';
import { safely } from '@queuelock/conformance';
import { encodeFencedData, fencedZnode, npmZookeeper, type ZnodeClient } from '@queuelock/fencing';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { endScripts } from '@queuelock/harness/services/script-process';
import type { OwnSite } from '../scenarios/store.ts';
import { startOwnZooKeeper } from '../scenarios/zookeeper-store.ts';
import { soon } from '../scenarios/wait.ts';
import { expectStaleHolderRefused } from './stale-holder.ts';
import { createNode, openSession, type ZnodeSession } from './znode-session.ts';

describe('a fenced znode in ZooKeeper', function () {
  this.timeout(60_000);
  let site: OwnSite;
  let session: ZnodeSession;
  let client: ZnodeClient;

  before(async () => {
    site = await startOwnZooKeeper('fenced znodes');
    session = await openSession(site.endpoint);
    client = npmZookeeper(session);
  });

  after(async () => {
    session.close();
    await site.server.stop();
  });

  afterEach(endScripts);

  it('rejects a write of a holder that was frozen past its TTL, unlike a znode without a fence', async () => {
    await createNode(session, '/stale-fenced', encodeFencedData(''));
    await createNode(session, '/stale-unfenced', Buffer.from(''));
    await expectStaleHolderRefused(site, {
      kind: 'znode',
      place: `${site.endpoint}/stale`,
      name: 'fenced-znode',
    });
  });

  it('rejects a write of an earlier holder that had read the znode before a later holder claimed it', async () => {
    await createNode(session, '/claimed', Buffer.from(''));
    const later = fencedZnode(client, '/claimed', { token: 6n });
    let claimed: unknown;
    const between: ZnodeClient = {
      ...client,
      async set(path, data, version) {
        claimed ??= await later.claim();
        return client.set(path, data, version);
      },
    };
    const outcome = await fencedZnode(between, '/claimed', { token: 5n }).write('old');
    expect(claimed).to.deep.equal({ outcome: 'accepted' });
    safely(() => expect(outcome).to.include({ outcome: 'refused', largest: 6n }));
    expect(Buffer.from((await client.get('/claimed'))!.data).toString()).to.equal('queuelock-fence 6\n');
  });

  it('loses no update when several writers of one hold increment the number in the znode concurrently', async () => {
    await createNode(session, '/counter', encodeFencedData('0'));
    const node = fencedZnode(client, '/counter', { token: 2n });
    const add = (): Promise<unknown> =>
      node.update((data) => String(Number(Buffer.from(data).toString()) + 1));
    await Promise.all(Array.from({ length: 10 }, add));
    expect(Buffer.from((await client.get('/counter'))!.data).toString()).to.equal('queuelock-fence 2\n10');
  });

  it('rejects writes to a missing znode, and to a znode whose data has no token', async () => {
    await createNode(session, '/foreign', Buffer.from('plain'));
    const claim = (path: string): Promise<string> =>
      fencedZnode(client, path, { token: 1n })
        .claim()
        .then(() => 'accepted', String);
    expect(await claim('/absent')).to.match(/there is no znode \/absent/);
    expect(await claim('/foreign')).to.match(/begins with the line "queuelock-fence TOKEN".*got "plain"/);
  });

  it('rejects with UNAVAILABLE when the reply to a write is lost, and accepts a repetition of that write', async () => {
    await createNode(session, '/lost', Buffer.from(''));
    await using proxy = await startProxy(site.endpoint);
    const lossy = await openSession(proxy.endpoint);
    try {
      const node = fencedZnode(npmZookeeper(lossy), '/lost', { token: 3n });
      const { lost } = proxy.loseNextReply((chunk) => chunk.includes('twice'));
      const failed = node.write('twice').catch((error: unknown) => error);
      await lost;
      // Adds the listener before the connection is cut, because the client reconnects at once.
      const reconnected = once(lossy, 'connect');
      proxy.cut();
      expect(await failed).to.have.property('code', 'UNAVAILABLE');
      expect((await client.get('/lost'))?.version).to.equal(1);
      await soon(reconnected, 'it connects again');
      expect(await node.write('twice')).to.deep.equal({ outcome: 'accepted' });
      expect((await client.get('/lost'))?.version).to.equal(2);
      await new Promise(setImmediate);
    } finally {
      lossy.close();
    }
  });

  it('rejects a write on a closed session with UNAVAILABLE', async () => {
    const closed = await openSession(site.endpoint);
    closed.close();
    await new Promise(setImmediate);
    const failed = await npmZookeeper(closed)
      .set('/counter', Buffer.from('x'), -1)
      .catch((error: unknown) => error);
    expect(failed).to.have.property('code', 'UNAVAILABLE');
  });
});
