import type { FuzzTarget } from '@queuelock/harness/fuzz/target';
import { Connection } from '../../src/frames/connection.ts';
import { ConnectionError } from '../../src/frames/protocol.ts';
import { SocketCall } from '../../src/wire/socket-call.ts';
import { frame, number, settings } from '../frame-peer.ts';
import RECORDED from './http2.json' with { type: 'json' };

const CALLS = 3;
const HEADERS = { ':method': 'POST', ':path': '/', te: 'trailers' };
/** Maximum number of bytes that a connection may write in addition to twice the size of its input. It covers the preface and the requests. */
const OWN_BYTES = 2_000;

/** Inputs with frames that etcd does not send, such as HTTP/2 priorities and padding. They complement the recorded bytes of etcd. */
const MADE: readonly Buffer[] = [
  Buffer.concat([
    frame('SETTINGS', {}, settings({ 1: 0, 3: 2, 4: 20, 5: 20_000 })),
    frame('HEADERS', { id: 1, flags: 0x28 }, '0100000000 00 88 00'),
    frame('CONTINUATION', { id: 1, flags: 4 }, '5f 8b 1d75d0620d263d4c4d6564 20 3fe11f'),
    frame('WINDOW_UPDATE', { id: 1 }, number(70)),
    frame('SETTINGS', {}, settings({ 4: 0 })),
    frame('WINDOW_UPDATE', {}, number(7)),
    frame('DATA', { id: 1, flags: 9 }, '02 0000000002 2003 0000'),
    frame('RST_STREAM', { id: 3 }, number(7)),
    frame('PRIORITY', { id: 5 }, Buffer.alloc(5)),
    frame('UNKNOWN', { id: 5 }, 'ff'),
    frame('PING', { flags: 1 }, Buffer.from('queueing')),
    frame('GOAWAY', {}, Buffer.concat([number(3), number(0)])),
  ]),
  Buffer.concat([
    frame('SETTINGS'),
    frame('HEADERS', { id: 3, flags: 4 }, '88 40 8825a849e95ba97d7f 8925a849e95bb8e8b4bf be be c0'),
    frame(
      'HEADERS',
      { id: 1, flags: 5 },
      '88 be 5f10 6170706c69636174696f6e2f67727063 00 0b677270632d737461747573 0130',
    ),
    frame('PUSH_PROMISE', { id: 1 }, number(2)),
  ]),
];

/**
 * Returns the fuzz target for HTTP/2 connections and their calls, without a socket. The first byte of an input, plus one, is the chunk size in which
 * the connection receives the other bytes.
 */
export function open(): FuzzTarget {
  const frames = [...RECORDED.map((text) => Buffer.from(text, 'hex')), ...MADE];
  return { corpus: frames.map((bytes) => Buffer.concat([Buffer.from([63]), bytes])), run };
}

async function run(input: Buffer): Promise<void> {
  let written = 0;
  let violation: Error | undefined;
  const connection = new Connection(
    { write: ({ length }) => (written += length), window: 65_535 },
    {
      onReady: () => undefined,
      onPong: () => undefined,
      onGoaway: () => undefined,
      onViolation: (error) => (violation = error),
    },
  );
  connection.start();
  const calls = Array.from({ length: CALLS }, () => new FuzzedCall(connection));
  receive(connection, input);
  await new Promise((resolve) => setImmediate(resolve));
  for (const stream of connection.end()) stream.onReset(8);
  if (violation && !(violation instanceof ConnectionError)) throw violation;
  for (const call of calls) call.requireOneEnd();
  if (written > OWN_BYTES + 2 * input.length)
    throw new Error(`${written} bytes written for ${input.length} read`);
}

function receive(connection: Connection, input: Buffer): void {
  const size = (input[0] ?? 0) + 1;
  // Reuses and overwrites one buffer, so that a test fails if the connection still refers to earlier bytes.
  const buffer = Buffer.alloc(size);
  for (let at = 1; at < input.length; at += size) {
    const length = input.copy(buffer, 0, at, at + size);
    connection.receive(buffer, length);
    buffer.fill(0xaa);
  }
}

/**
 * A call on the connection that receives the fuzzed bytes. It ends itself (`fail`) when a message of one byte arrives, so that an end by the client
 * is fuzzed too.
 */
class FuzzedCall {
  #ends = 0;
  #open = 1;

  constructor(connection: Connection) {
    const link = {
      connection,
      isMade: true,
      isOver: false,
      failure: new Error('closed'),
      closed: () => (this.#open -= 1),
      retire: () => undefined,
    };
    const call: SocketCall = new SocketCall(link, HEADERS, {
      onMessage: ({ length }) => {
        if (this.#ends > 0) throw new Error('a message after the end');
        if (length === 1) call.fail(new Error('one byte'));
      },
      onEnd: () => (this.#ends += 1),
    });
    call.write(Buffer.alloc(40));
    call.end(Buffer.alloc(40));
  }

  requireOneEnd(): void {
    if (this.#ends !== 1) throw new Error(`a call ended ${this.#ends} times`);
    if (this.#open !== 0)
      throw new Error(`a connection counts ${this.#open} open calls of one that has ended`);
  }
}
