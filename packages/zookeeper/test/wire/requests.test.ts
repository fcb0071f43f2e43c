import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { startZooKeeper } from '@queuelock/harness/services';
import { multi } from '../../src/wire/multi.ts';
import * as requests from '../../src/wire/node-requests.ts';
import { Xid } from '../../src/wire/op-code.ts';
import { OPEN } from '../../src/wire/records.ts';
import { addAuth, closeSession, setWatches } from '../../src/wire/session-requests.ts';
import { Bench, newQueue } from '../bench.ts';
import { OneLink } from './clients.ts';

const { CreateFlag } = requests;

describe('requests to a ZooKeeper server', () => {
  const bench = new Bench();
  let server: string;
  let root: string;
  let one: OneLink;

  before(async () => {
    // The setting `zookeeper.extendedTypesEnabled` allows nodes with a TTL.
    const settings = { 'zookeeper.extendedTypesEnabled': true };
    const started = await startZooKeeper({ settings });
    after(() => started.stop());
    server = started.endpoint;
  });
  beforeEach(async () => {
    root = `/${newQueue()}`;
    one = new OneLink(bench, server);
    await one.welcome;
    await one.request(requests.create(node('', CreateFlag.persistent)));
  });
  afterEach(() => bench.clear());

  const node = (below: string, flags: number, text = ''): requests.NewNode => ({
    path: `${root}${below}`,
    data: Buffer.from(text),
    flags,
  });

  it('create nodes of every kind', async () => {
    const { welcome } = one;
    const session = (await welcome).session.id;
    const made = async (below: string, flags: number): Promise<unknown> =>
      (await one.request(requests.create(node(below, flags)))).value;
    expect(await made('/plain', CreateFlag.persistent)).to.equal(`${root}/plain`);
    expect(await made('/own', CreateFlag.ephemeral)).to.equal(`${root}/own`);
    expect(await made('/number-', CreateFlag['persistent-sequential'])).to.equal(`${root}/number-0000000002`);
    expect(await made('/own-', CreateFlag['ephemeral-sequential'])).to.equal(`${root}/own-0000000003`);
    expect(await made('/container', CreateFlag.container)).to.equal(`${root}/container`);
    const second = await one.request(requests.create2(node('/second', CreateFlag.ephemeral, 'four')));
    const { value: stat } = await one.request(requests.exists(`${root}/second`, false));
    expect(stat).to.deep.include({ ephemeralOwner: session, dataLength: 4, version: 0 });
    expect(second.value).to.deep.equal({ path: `${root}/second`, czxid: stat!.czxid });
    const short = await one.request(
      requests.createTtl(node('/short', CreateFlag['persistent-with-ttl']), 60_000n),
    );
    expect([short.code, short.value?.path]).to.deep.equal([0, `${root}/short`]);
    const again = await one.request(requests.create(node('/plain', CreateFlag.persistent)));
    expect(again).to.deep.equal({ code: -110, value: undefined });
  });

  it('read, write and delete nodes', async () => {
    const path = `${root}/ä`;
    await one.request(requests.create({ ...node('', 0, 'before'), path }));
    const read = await one.request(requests.getData(path, false));
    expect(read.value!.data!.toString()).to.equal('before');
    const written = await one.request(requests.setData(path, Buffer.from('after'), 0));
    expect(written.value).to.deep.include({ version: 1, czxid: read.value!.stat.czxid, dataLength: 5 });
    expect((await one.request(requests.setData(path, Buffer.from('late'), 0))).code).to.equal(-103);
    const seen = await one.request(requests.exists(path, false));
    expect(seen.value).to.deep.equal(written.value);
    expect((await one.request(requests.getChildren(root, false))).value).to.deep.equal(['ä']);
    const list = await one.request(requests.getChildren2(root, false));
    expect(list.value!.names).to.deep.equal(['ä']);
    expect(list.value!.stat).to.deep.include({ numChildren: 1, cversion: 1, pzxid: seen.value!.czxid });
    expect((await one.request(requests.remove(path, 0))).code).to.equal(-103);
    expect((await one.request(requests.remove(path, -1))).code).to.equal(0);
    expect((await one.request(requests.exists(path, false))).code).to.equal(-101);
    expect((await one.request(requests.sync(path))).value).to.equal(path);
  });

  it('execute several steps in one transaction, or none of them', async () => {
    const done = await one.request(
      multi([
        { type: 'create', node: node('/a-', CreateFlag['ephemeral-sequential']) },
        { type: 'create', node: node('/b', CreateFlag.persistent) },
        { type: 'check', path: `${root}/b`, version: 0 },
        { type: 'setData', path: `${root}/b`, data: Buffer.from('x'), version: 0 },
        { type: 'delete', path: `${root}/b`, version: 1 },
      ]),
    );
    expect(done.value!.map(({ type }) => type)).to.deep.equal([
      'create',
      'create',
      'check',
      'setData',
      'delete',
    ]);
    expect(done.value![0]).to.deep.equal({ type: 'create', path: `${root}/a-0000000000` });
    expect(done.value![3]).to.have.property('stat').that.deep.includes({ version: 1, dataLength: 1 });
    const failed = await one.request(
      multi([
        { type: 'create', node: node('/c', CreateFlag.persistent) },
        { type: 'check', path: `${root}/none`, version: -1 },
        { type: 'delete', path: `${root}/c`, version: -1 },
      ]),
    );
    expect(failed.value).to.deep.equal([0, -101, -2].map((error) => ({ type: 'error', error })));
    expect((await one.request(requests.exists(`${root}/c`, false))).code).to.equal(-101);
  });

  it('that set a watch get one event for a change, before the replies that show it', async () => {
    const path = `${root}/watched`;
    const order: unknown[] = [];
    const noted = async (what: string, requested: Promise<unknown>): Promise<void> => {
      await requested;
      order.push(what);
    };
    const events = (): unknown[] => one.events.splice(0).map(({ change }) => change);
    const received = one.events.push.bind(one.events);
    one.events.push = (event) => {
      order.push(event.change);
      return received(event);
    };
    await Promise.all([
      noted('look', one.request(requests.exists(path, true))),
      noted('create', one.request(requests.create({ ...node('', 0), path }))),
      noted('read', one.request(requests.getData(path, true))),
      noted('list', one.request(requests.getChildren(root, true))),
      noted('write', one.request(requests.setData(path, Buffer.from('x'), -1))),
      noted('write again', one.request(requests.setData(path, Buffer.from('y'), -1))),
      noted('look again', one.request(requests.exists(path, true))),
      noted('delete', one.request(requests.remove(path, -1))),
    ]);
    expect(order).to.deep.equal([
      ...['look', 'created', 'create', 'read', 'list', 'changed', 'write', 'write again', 'look again'],
      ...['deleted', 'child', 'delete'],
    ]);
    expect(events()).to.deep.equal(['created', 'changed', 'deleted', 'child']);
  });

  it('resume a session on another connection, which can set its watches again', async () => {
    const [kept, removed] = [`${root}/kept`, `${root}/gone`];
    await one.request(requests.create({ ...node('', CreateFlag.ephemeral), path: kept }));
    await one.request(requests.create({ ...node('', CreateFlag.ephemeral), path: removed }));
    const { session } = await one.welcome;
    const since = one.link.lastZxid;
    one.link.destroy(new Error('the test has it so'));
    const operator = new OneLink(bench, server);
    await operator.welcome;
    await operator.request(requests.remove(removed, -1));
    const next = new OneLink(bench, server, { session, lastZxid: since });
    expect((await next.welcome).session).to.deep.equal(session);
    const many = Array.from({ length: 3_000 }, (_, index) => `${root}/${'x'.repeat(80)}-${index}`);
    const again = setWatches(since, { data: [kept, removed], exist: many, child: [root] });
    expect(again.length).to.be.greaterThan(1);
    for (const request of again) next.link.tell(request, Xid.setWatches);
    await next.request(requests.sync('/'));
    expect(next.events).to.have.deep.members([
      { path: removed, change: 'deleted' },
      { path: root, change: 'child' },
    ]);
    next.events.length = 0;
    await operator.request(requests.setData(kept, Buffer.from('x'), -1));
    await operator.request(requests.create({ ...node('', 0), path: many.at(-1)! }));
    await next.request(requests.sync('/'));
    expect(next.events).to.deep.equal([
      { path: kept, change: 'changed' },
      { path: many.at(-1), change: 'created' },
    ]);
  });

  it('authenticate, and read access control lists', async () => {
    const id = `alice:${createHash('sha1').update('alice:right').digest('base64')}`;
    const acl = [{ perms: 31, scheme: 'digest', id }];
    const path = `${root}/hers`;
    await one.request(requests.create({ ...node('', 0), path, acl }));
    expect((await one.request(requests.getACL(root))).value).to.deep.equal(OPEN);
    expect((await one.request(requests.getData(path, false))).code).to.equal(-102);
    one.link.tell(addAuth('digest', Buffer.from('alice:right')), Xid.auth);
    expect((await one.request(requests.getData(path, false))).code).to.equal(0);
    expect((await one.request(requests.getACL(path))).value).to.deep.equal(acl);
    expect(one.refusals).to.deep.equal([]);
  });

  it('are refused if they contain an unknown authentication scheme, and the connection ends', async () => {
    one.link.tell(addAuth('no-such-scheme', Buffer.alloc(0)), Xid.auth);
    await one.lost;
    expect(one.refusals).to.deep.equal([-115]);
  });

  it('that close a session remove its ephemeral nodes and end the connection', async () => {
    const path = `${root}/own`;
    await one.request(requests.create({ ...node('', CreateFlag.ephemeral), path }));
    expect((await one.request(closeSession())).code).to.equal(0);
    await one.lost;
    const other = new OneLink(bench, server);
    await other.welcome;
    expect((await other.request(requests.exists(path, false))).code).to.equal(-101);
    const { session } = await one.welcome;
    const late = new OneLink(bench, server, { session });
    expect((await late.welcome).timeoutMs).to.equal(0);
  });

  it('are refused if the session has read a later transaction than the server has', async () => {
    const ahead = new OneLink(bench, server, { lastZxid: 2n ** 40n });
    expect(String(await ahead.lost)).to.include('closed the connection');
  });
});
