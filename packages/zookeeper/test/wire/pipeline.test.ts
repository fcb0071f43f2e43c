import { expect } from 'chai';
import fc from 'fast-check';
import { JuteReader } from '../../src/wire/jute-read.ts';
import { exists, getChildren, getData, remove, sync } from '../../src/wire/node-requests.ts';
import { Pipeline } from '../../src/wire/pipeline.ts';
import { WireError } from '../../src/wire/wire-error.ts';
import { eventFrame, replyFrame } from './fake-frames.ts';

describe('the requests of one connection', () => {
  it('are numbered from 1', () => {
    const pipeline = new Pipeline(0n);
    const frames = [sync('/'), remove('/a', 7)].map((request) =>
      pipeline.ask<unknown>(request, () => undefined),
    );
    const readers = frames.map((frame) => new JuteReader(frame));
    expect(readers.map((reader) => [reader.int(), reader.int(), reader.int()])).to.deep.equal([
      [frames[0]!.length - 4, 1, 9],
      [frames[1]!.length - 4, 2, 2],
    ]);
    expect(pipeline.size).to.equal(2);
  });

  it('are numbered from 1 again after the highest number', () => {
    const pipeline = new Pipeline(0n, 2 ** 31 - 2);
    const numbers: number[] = [];
    const reported: number[] = [];
    for (let index = 0; index < 3; index += 1) {
      numbers.push(pipeline.ask(sync('/'), (code) => reported.push(code)).readInt32BE(4));
    }
    expect(numbers).to.deep.equal([2 ** 31 - 1, 1, 2]);
    for (const xid of numbers) pipeline.receive(replyFrame({ xid, err: -xid }));
    expect(reported).to.deep.equal(numbers.map((xid) => -xid));
  });

  it('get their own replies, in the order in which they were sent', () => {
    const pipeline = new Pipeline(0n);
    const replies: unknown[] = [];
    pipeline.ask(sync('/'), (...reply) => replies.push(['sync', ...reply]));
    pipeline.ask(getChildren('/a', false), (...reply) => replies.push(['children', ...reply]));
    pipeline.ask(exists('/b', false), (...reply) => replies.push(['exists', ...reply]));
    pipeline.receive(replyFrame({ xid: 1, body: (writer) => writer.text('/') }));
    pipeline.receive(
      replyFrame({ xid: 2, body: (writer) => writer.list(['x', 'y'], (one, text) => one.text(text)) }),
    );
    pipeline.receive(replyFrame({ xid: 3, err: -101 }));
    expect(replies).to.deep.equal([
      ['sync', 0, '/'],
      ['children', 0, ['x', 'y']],
      ['exists', -101],
    ]);
  });

  it('fail if replies arrive out of order, which ends the connection', () => {
    const pipeline = new Pipeline(0n);
    const replies: number[] = [];
    pipeline.ask(sync('/'), (code) => replies.push(code));
    pipeline.ask(sync('/'), (code) => replies.push(code));
    expect(() => pipeline.receive(replyFrame({ xid: 2 }))).to.throw(
      WireError,
      'request 2 where one to 1 was expected',
    );
    pipeline.fail(-4);
    expect(replies).to.deep.equal([-4, -4]);
    expect(() => pipeline.receive(replyFrame({ xid: 1 }))).to.throw(WireError, 'one to none was expected');
  });

  it('fail at the end of the connection if their reply cannot be parsed', () => {
    const pipeline = new Pipeline(0n);
    const replies: number[] = [];
    pipeline.ask(getData('/', false), (code) => replies.push(code));
    expect(() => pipeline.receive(replyFrame({ xid: 1 }))).to.throw(WireError);
    expect(replies).to.deep.equal([]);
    pipeline.fail(-4);
    expect(replies).to.deep.equal([-4]);
  });

  it('get replies whose headers show the id of the last transaction that the session has seen', () => {
    const pipeline = new Pipeline(5n);
    const seen = [pipeline.lastZxid];
    const receive = (frame: Buffer): void => {
      pipeline.receive(frame);
      seen.push(pipeline.lastZxid);
    };
    for (let count = 0; count < 3; count += 1) pipeline.ask(exists('/', false), () => undefined);
    receive(replyFrame({ xid: 1, zxid: 7n, err: -101 }));
    receive(replyFrame({ xid: 2, zxid: 6n, err: -101 }));
    receive(replyFrame({ xid: -2, zxid: 100n }));
    receive(eventFrame(2, '/a'));
    receive(replyFrame({ xid: 3, zxid: -1n, err: -101 }));
    expect(seen).to.deep.equal([5n, 7n, 7n, 7n, 7n, 7n]);
  });

  it('do not take events or replies to pings as their own replies', () => {
    const pipeline = new Pipeline(0n);
    expect(
      [eventFrame(1, '/a'), eventFrame(4, '/b'), eventFrame(-1, ''), replyFrame({ xid: -2 })].map((frame) =>
        pipeline.receive(frame),
      ),
    ).to.deep.equal([
      { type: 'event', event: { path: '/a', change: 'created' } },
      { type: 'event', event: { path: '/b', change: 'child' } },
      { type: 'event', event: undefined },
      { type: 'pong' },
    ]);
    expect(pipeline.receive(replyFrame({ xid: -4, err: -115 }))).to.deep.equal({ type: 'auth', code: -115 });
  });

  it('are removed from memory after their replies, even if another request is always in flight', () => {
    const pipeline = new Pipeline(0n);
    let replied = 0;
    pipeline.ask(sync('/'), () => (replied += 1));
    for (let xid = 1; xid < 5_000; xid += 1) {
      pipeline.ask(sync('/'), () => (replied += 1));
      pipeline.receive(replyFrame({ xid, body: (writer) => writer.text('/') }));
    }
    expect([replied, pipeline.size]).to.deep.equal([4_999, 1]);
  });

  it('settle exactly once, whatever bytes arrive instead of replies', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.integer({ min: -9, max: 2 }), (bytes, xid) => {
        const frame = Buffer.from(bytes);
        if (frame.length >= 4) frame.writeInt32BE(xid);
        const pipeline = new Pipeline(0n);
        let settled = 0;
        pipeline.ask(getData('/', true), () => (settled += 1));
        try {
          pipeline.receive(frame);
        } catch (error) {
          expect(error).to.be.instanceOf(WireError);
        }
        pipeline.fail(-4);
        expect(settled).to.equal(1);
      }),
      { numRuns: 500 },
    );
  });
});
