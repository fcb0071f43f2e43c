import { expect } from 'chai';
import type { Register, Registers } from '@queuelock/core/backend';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { EtcdRegisters, type RegisterContext } from '../src/views/registers.ts';
import { Subject } from '../src/base/rx.ts';
import type { WatchNotification, Watches } from '../src/server/watches.ts';
import { Clients, codeOf, eventually, freshQueue } from './clients.ts';
import { mentions } from './late-request.ts';
import { loseReply } from './lost-reply.ts';
import { OwnServer } from './own-server.ts';
import { requestsOf } from './requests.ts';

describe('registers in etcd', () => {
  const own = new OwnServer();
  let proxy: TcpProxy;
  let registers: Registers;
  const clients = new Clients();

  beforeEach(async () => {
    proxy = await startProxy(own.server.endpoint);
    registers = clients.backend({ hosts: proxy.endpoint, prefix: 'team/' }).registers!;
  });
  afterEach(async () => {
    await proxy.heal();
    await clients.close();
    await proxy.stop();
  });

  it('are keys without a lease, whose version is the revision of their last write', async () => {
    const queue = `${freshQueue()}/nested`;
    const key = `team/.queuelock/register/open/${queue}`;
    expect(await registers.write(queue, 'open', { text: 'yes', was: undefined })).to.equal(true);
    expect(await own.operator.under(key)).to.deep.equal({ [key]: 'yes' });
    expect(await own.operator.leaseOf(key)).to.equal('0');
    const written = await registers.read(queue, 'open');
    expect(written).to.deep.equal({ text: 'yes', version: String(await own.operator.createRevisionOf(key)) });
    expect(await registers.write(queue, 'open', { text: undefined, was: written!.version })).to.equal(true);
    expect(await own.operator.keysUnder(key)).to.deep.equal([]);
  });

  it('cost one request to read and one to write', async () => {
    const queue = freshQueue();
    const write = (): Promise<unknown> => registers.write(queue, 'open', { text: '', was: undefined });
    await registers.read(queue, 'open');
    expect(await requestsOf(own.server.endpoint, () => registers.read(queue, 'open'))).to.equal(1);
    expect(await requestsOf(own.server.endpoint, write)).to.equal(1);
    expect(await requestsOf(own.server.endpoint, write)).to.equal(1);
  });

  it('contain the written text after a write whose reply was lost', async () => {
    const queue = freshQueue();
    // Opens the connection by a read. So the next request that contains the name of the queue is the write, whose reply gets lost.
    await registers.read(queue, 'open');
    const lost = loseReply(proxy, mentions(queue));
    const written = registers.write(queue, 'open', { text: 'maybe', was: undefined });
    expect(await codeOf(written)).to.equal('UNAVAILABLE');
    await lost;
    expect((await registers.read(queue, 'open'))?.text).to.equal('maybe');
    expect(await registers.write(queue, 'open', { text: 'again', was: undefined })).to.equal(false);
  });

  it('refuse invalid kinds, versions and texts', async () => {
    const queue = freshQueue();
    const write = (text: string, was?: string): Promise<unknown> =>
      codeOf(registers.write(queue, 'open', { text, was }));
    for (const kind of ['', 'Open', 'open/x', 'x'.repeat(17)])
      expect(await codeOf(registers.read(queue, kind)), kind).to.equal('INVALID_ARGUMENT');
    expect(await write('ü'.repeat(2_049))).to.equal('INVALID_ARGUMENT');
    for (const was of ['', '0', '-1', 'x']) expect(await write('', was), was).to.equal('INVALID_ARGUMENT');
    expect(await registers.read(queue, 'open')).to.equal(undefined);
  });

  it('notify an observer of each change once, and end its stream with an error when the connection breaks', async () => {
    const queue = freshQueue();
    const other = clients.backend({ hosts: own.server.endpoint, prefix: 'team/' }).registers!;
    const seen: (Register | undefined)[] = [];
    let failure: unknown;
    registers.observe(queue, 'open').subscribe({
      next: (register) => seen.push(register),
      error: (error: unknown) => (failure = error),
    });
    await eventually('the empty one is seen', () => seen.length === 1);
    await other.write(queue, 'open', { text: 'one', was: undefined });
    await eventually('the text is seen', () => seen.length === 2);
    await other.write(queue, 'open', { text: undefined, was: seen[1]!.version });
    await eventually('the end is seen', () => seen.length === 3);
    expect(seen.map((register) => register?.text)).to.deep.equal([undefined, 'one', undefined]);
    proxy.refuse();
    proxy.cut();
    await eventually('the observer is notified', () => failure !== undefined);
    expect(failure).to.have.property('code', 'UNAVAILABLE');
  });

  it('emit the present value first to each of two observers that subscribe one after the other', async () => {
    const queue = freshQueue();
    const register$ = registers.observe(queue, 'open');
    for (const text of [undefined, 'now']) {
      if (text !== undefined) await registers.write(queue, 'open', { text, was: undefined });
      const seen: (Register | undefined)[] = [];
      const following = register$.subscribe((register) => seen.push(register));
      await eventually('the first value is reported', () => seen.length === 1);
      expect(seen[0]?.text).to.equal(text);
      following.unsubscribe();
    }
  });
});

describe('an observed register', () => {
  const change = (version: number): WatchNotification => {
    const kv = { key: Buffer.from('k'), value: Buffer.from(`text ${version}`), version: '1', lease: '0' };
    const revisions = { create_revision: '1', mod_revision: String(version) };
    const event = { type: 'Put', kv: { ...kv, ...revisions }, prev_kv: { ...kv, ...revisions } } as const;
    return { status: 'events', events: [event] };
  };

  it('never shows an older value than before, when changes arrive during a read', async () => {
    const notifications$ = new Subject<WatchNotification>();
    const watches: Pick<Watches, 'watch'> = { watch: () => notifications$ };
    let reply: (read: unknown) => void = () => undefined;
    const around = {
      prefix: '',
      watches,
      connection: { ask: () => new Promise((resolve) => (reply = resolve)) },
    };
    const reported: unknown[] = [];
    new EtcdRegisters(around as unknown as RegisterContext)
      .observe('q', 'open')
      .subscribe((register) => reported.push(register?.version));
    notifications$.next({ status: 'live' });
    for (const version of [5, 6, 8]) notifications$.next(change(version));
    const { kv } = (change(6) as { readonly events: readonly { readonly kv: unknown }[] }).events[0]!;
    reply({ header: { revision: '7' }, kvs: [kv] });
    await eventually('the last change is reported', () => reported.at(-1) === '8');
    expect(reported).to.deep.equal(['6', '8']);
  });
});
