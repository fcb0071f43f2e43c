import { expect } from 'chai';
import { FrameReader } from '../../src/wire/frames.ts';
import { helloFrame, welcomeOf } from '../../src/wire/handshake.ts';
import { multi } from '../../src/wire/multi.ts';
import * as requests from '../../src/wire/node-requests.ts';
import { Xid } from '../../src/wire/op-code.ts';
import { Pipeline, type ReceivedFrame } from '../../src/wire/pipeline.ts';
import { OPEN, type WireStat } from '../../src/wire/records.ts';
import { numbered, type WireRequest } from '../../src/wire/request.ts';
import { closeSession, ping, setWatches } from '../../src/wire/session-requests.ts';
import { RECORDED } from './exchange.ts';

const EMPTY = Buffer.alloc(0);
const PATH = '/recorded';

/** The requests of the recorded exchange, in order. They were sent together. */
const ASKED: readonly WireRequest<unknown>[] = [
  requests.create({ path: PATH, data: Buffer.from('one'), flags: requests.CreateFlag.container }),
  requests.create2({ path: `${PATH}/n-`, data: EMPTY, flags: requests.CreateFlag['ephemeral-sequential'] }),
  requests.getData(PATH, true),
  requests.setData(PATH, Buffer.from('two'), -1),
  requests.exists('/recorded-not', false),
  requests.getChildren2(PATH, true),
  requests.getACL(PATH),
  multi([
    { type: 'create', node: { path: `${PATH}/m`, data: EMPTY, flags: requests.CreateFlag.persistent } },
    { type: 'delete', path: `${PATH}/m`, version: 0 },
  ]),
  requests.sync('/'),
  closeSession(),
];

describe('a recorded exchange with ZooKeeper 3.8.0', () => {
  it('has the same bytes as the requests and the handshake that this package encodes', () => {
    const pipeline = new Pipeline(0n);
    const sent = [
      helloFrame({ lastZxid: 0n, timeoutMs: 4_000, session: undefined }),
      ...ASKED.map((request) => Buffer.from(pipeline.ask(request, () => undefined))),
    ];
    expect(Buffer.concat(sent).toString('hex')).to.equal(RECORDED.client.join(''));
  });

  it('is parsed into the values and events that the server sent', () => {
    const frames = new FrameReader(2 ** 20);
    frames.push(Buffer.from(RECORDED.server.join(''), 'hex'));
    const welcome = welcomeOf(frames.next()!);
    expect(welcome).to.deep.include({ timeoutMs: 4_000, isReadOnly: false });
    expect(welcome.session.password.length).to.equal(16);
    const pipeline = new Pipeline(0n);
    const reported: unknown[] = [];
    for (const request of ASKED) pipeline.ask(request, (code, value) => reported.push(value ?? code));
    const received: ReceivedFrame[] = [];
    for (let frame = frames.next(); frame; frame = frames.next()) received.push(pipeline.receive(frame));
    const events = received.flatMap((one) => (one.type === 'event' ? [one.event] : []));
    expect(events).to.deep.equal([
      { path: PATH, change: 'changed' },
      { path: PATH, change: 'child' },
    ]);
    const [made, second, read, written, missing, list, acl, steps, synced, closed] = reported as [
      string,
      requests.Made,
      requests.Content,
      WireStat,
      ...unknown[],
    ];
    const children = list as requests.Children;
    expect(made).to.equal(PATH);
    expect(second).to.deep.equal({ path: `${PATH}/n-0000000000`, czxid: read.stat.czxid + 1n });
    expect([read.data!.toString(), read.stat.numChildren, read.stat.version]).to.deep.equal(['one', 1, 0]);
    expect([written.version, written.dataLength, written.mzxid]).to.deep.equal([1, 3, read.stat.czxid + 2n]);
    expect([missing, children.names, acl]).to.deep.equal([-101, ['n-0000000000'], OPEN]);
    expect(steps).to.deep.equal([{ type: 'create', path: `${PATH}/m` }, { type: 'delete' }]);
    expect([synced, closed, pipeline.size]).to.deep.equal(['/', 0, 0]);
    expect(pipeline.lastZxid >= read.stat.czxid + 3n).to.equal(true);
  });

  it('contains the request numbers that this package sends for pings and watches', () => {
    expect(numbered(ping(), Xid.ping).toString('hex')).to.equal('00000008fffffffe0000000b');
    const [watches] = setWatches(5n, { data: ['/a'], exist: [], child: ['/b'] });
    expect(numbered(watches!, Xid.setWatches).toString('hex')).to.equal(
      [
        ...['00000028', 'fffffff8', '00000065', '0000000000000005'],
        ...['00000001', '000000022f61', '00000000', '00000001', '000000022f62'],
      ].join(''),
    );
  });
});
