import { FrameReader, LENGTH_BYTES } from '../../src/wire/frames.ts';
import { welcomeOf } from '../../src/wire/handshake.ts';
import { multi } from '../../src/wire/multi.ts';
import {
  CreateFlag,
  create,
  create2,
  exists,
  getACL,
  getChildren,
  getChildren2,
  getData,
  getEphemerals,
  remove,
  setData,
  sync,
} from '../../src/wire/node-requests.ts';
import { Pipeline } from '../../src/wire/pipeline.ts';
import type { WireRequest } from '../../src/wire/request.ts';
import { WireError } from '../../src/wire/wire-error.ts';
import {
  eventFrame,
  putStat,
  replyFrame,
  welcomeFrame,
  withLength,
  type Reply,
} from '../wire/fake-frames.ts';
import type { FuzzTarget } from '@queuelock/harness/fuzz/target';

const NODE = { path: '/a', data: Buffer.alloc(0), flags: CreateFlag.persistent };
const STEPS = [
  { type: 'create', node: NODE },
  { type: 'setData', path: '/a', data: Buffer.alloc(1), version: 1 },
  { type: 'delete', path: '/a', version: 1 },
] as const;

/** Pairs of a request and the usual content of its reply, in the order in which the requests are sent. */
const EXCHANGES: readonly (readonly [request: WireRequest<unknown>, body: Reply['body']])[] = [
  [sync('/'), (writer) => writer.text('/')],
  [create(NODE), (writer) => writer.text('/a')],
  [create2(NODE), (writer) => putStat(writer.text('/a'), 7n)],
  [getData('/a', true), (writer) => putStat(writer.buffer(Buffer.from('{"owner":"a"}')), 7n)],
  [getChildren('/a', true), (writer) => writer.list(['x', 'y'], (one, text) => one.text(text))],
  [
    getChildren2('/a', true),
    (writer) =>
      putStat(
        writer.list(['x'], (one, text) => one.text(text)),
        7n,
      ),
  ],
  [exists('/a', false), (writer) => putStat(writer, 9n)],
  [getACL('/a'), (writer) => putStat(writer.int(1).int(31).text('world').text('anyone'), 3n)],
  [getEphemerals('/'), (writer) => writer.list(['/e'], (one, text) => one.text(text))],
  [setData('/a', Buffer.alloc(1), 1), (writer) => putStat(writer, 8n)],
  [
    multi(STEPS),
    (writer) => {
      writer.int(1).bool(false).int(0).text('/a').int(5).bool(false).int(0);
      putStat(writer, 8n).int(2).bool(false).int(0).int(-1).bool(true).int(-1);
    },
  ],
  [remove('/a', 1), undefined],
];

const MAX_FRAME_BYTES = 1 << 20;
const welcome = withLength(welcomeFrame({ timeoutMs: 9_000, id: 5n }));
const replies = EXCHANGES.map(([, body], index) =>
  withLength(replyFrame({ xid: index + 1, ...(body && { body }) })),
);
const event = withLength(eventFrame(2, '/a/b'));
const refused = withLength(replyFrame({ xid: 1, err: -101 }));

/**
 * Fuzz target: bytes that a ZooKeeper server might send, namely its first message, replies and events. The
 * first byte of the input is the size of the chunks in which they arrive.
 */
export function open(): FuzzTarget {
  const streams = [
    [welcome, ...replies],
    [welcome, event, refused, event],
    ...replies.map((reply) => [welcome, reply]),
  ];
  const corpus = streams.map((frames) => Buffer.concat([Buffer.from([64]), ...frames]));
  return { corpus, run };
}

function run(input: Buffer): void {
  const frames = new FrameReader(MAX_FRAME_BYTES);
  const pipeline = new Pipeline(0n);
  let settled = 0;
  for (const [request] of EXCHANGES)
    pipeline.ask(request, (_code, value) => {
      settled += 1;
      requireSmall(value, input.length);
    });
  try {
    readAll(frames, pipeline, input);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
  }
  pipeline.fail(-4);
  if (settled !== EXCHANGES.length) throw new Error(`${settled} of ${EXCHANGES.length} requests are settled`);
}

function readAll(frames: FrameReader, pipeline: Pipeline, input: Buffer): void {
  const size = (input[0] ?? 0) + 1;
  let isWelcome = true;
  for (let at = 1; at < input.length; at += size) {
    frames.push(input.subarray(at, at + size));
    if (frames.held > input.length) throw new Error('more bytes are held than have arrived');
    for (let frame = frames.next(); frame; frame = frames.next()) {
      if (isWelcome) welcomeOf(frame);
      else pipeline.receive(frame);
      isWelcome = false;
    }
  }
}

/** Throws if a parsed list has more items than the reply has bytes, since each item takes at least one. */
function requireSmall(value: unknown, bytes: number): void {
  if (Array.isArray(value) && value.length > bytes + LENGTH_BYTES)
    throw new Error(`a list of ${value.length} items from ${bytes} bytes`);
}
