import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { FrameReader } from '../../src/wire/frames.ts';
import { JuteReader } from '../../src/wire/jute-read.ts';
import type { Bench } from '../bench.ts';
import { replyFrame, welcomeFrame, withLength, type FakeWelcome, type Reply } from './fake-frames.ts';

/** The first message of a client. */
export interface ReceivedHello {
  readonly lastZxid: bigint;
  readonly timeoutMs: number;
  readonly session: bigint;
  readonly password: string;
}

/**
 * What a simulated server does on one connection when a client's first message or a request arrives. Without
 * a function for it, the server sends nothing.
 */
export interface Part {
  hello?(peer: Peer, hello: ReceivedHello): void;
  request?(
    peer: Peer,
    request: { readonly xid: number; readonly type: number; readonly body: JuteReader },
  ): void;
}

/** A connection of a simulated server, from the server's side. */
export class Peer {
  readonly socket: Socket;
  hello: ReceivedHello | undefined;

  constructor(socket: Socket, part: Part) {
    this.socket = socket;
    const frames = new FrameReader(2 ** 20);
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      frames.push(chunk);
      for (let frame = frames.next(); frame; frame = frames.next()) this.#receive(frame, part);
    });
  }

  welcome(welcome: FakeWelcome): void {
    this.send(welcomeFrame(welcome));
  }

  reply(reply: Reply): void {
    this.send(replyFrame(reply));
  }

  send(...frames: readonly Buffer[]): void {
    this.socket.write(Buffer.concat(frames.map(withLength)));
  }

  #receive(frame: Buffer, part: Part): void {
    const body = new JuteReader(frame);
    if (this.hello) {
      part.request?.(this, { xid: body.int(), type: body.int(), body });
      return;
    }
    body.int();
    const [lastZxid, timeoutMs, session] = [body.long(), body.int(), body.long()];
    this.hello = { lastZxid, timeoutMs, session, password: body.buffer()!.toString('hex') };
    part.hello?.(this, this.hello);
  }
}

/** A simulated server that does what the test defines. It is closed after the test. */
export interface FakeServer {
  readonly endpoint: string;
  /** All connections that the server has accepted. */
  readonly peers: readonly Peer[];
}

export async function fakeServer(bench: Bench, part: Part, host = '127.0.0.1'): Promise<FakeServer> {
  const peers: Peer[] = [];
  const server = createServer((socket) => peers.push(new Peer(socket, part)));
  server.listen(0, host);
  await once(server, 'listening');
  bench.keep(server, () => {
    server.close();
    for (const { socket } of peers) socket.destroy();
  });
  return { endpoint: `${host}:${(server.address() as AddressInfo).port}`, peers };
}

/** Returns a server that grants every client a session with the timeout `timeoutMs`, and replies to pings. */
export function welcoming(timeoutMs: number, request?: Part['request']): Part {
  return {
    hello: (peer, { session }) => {
      peer.welcome({ timeoutMs, id: session === 0n ? 1n : session });
    },
    request: (peer, requested) => {
      if (requested.xid === -2) peer.reply({ xid: -2 });
      else request?.(peer, requested);
    },
  };
}
