import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { splitEndpoint } from '../services/endpoint.ts';

/**
 * As much of ZooKeeper's protocol (zookeeper.jute, ZooDefs.OpCode) as it takes to write and read through one member. The
 * npm package does not do for that: it may take a socket of the process for its own when it loses a connection while
 * others are opened, which is what tests of faults do all the time.
 */

const OP = { create: 1, getData: 4, sync: 9, close: -11 } as const;
const TIMEOUT_MS = 10_000;

export class ZooKeeperWire {
  readonly #socket: Socket;
  readonly #answers: ((answer: Buffer | Error) => void)[] = [];
  #heard: Buffer = Buffer.alloc(0);
  #xid = 0;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#hear(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      for (const answer of this.#answers.splice(0)) answer(new Error('ZooKeeper closed the connection'));
    });
  }

  /** A new session on this member. Rejects when it does not take one. */
  static async open(endpoint: string): Promise<ZooKeeperWire> {
    const socket = connect({ ...splitEndpoint(endpoint), noDelay: true });
    await once(socket, 'connect');
    const wire = new ZooKeeperWire(socket);
    await wire.#ask(Buffer.concat([int(0), long(0), int(TIMEOUT_MS), long(0), bytes(Buffer.alloc(16))]));
    return wire;
  }

  async create(path: string, data: string): Promise<void> {
    const anyone = [int(1), int(31), bytes('world'), bytes('anyone')];
    await this.#call(OP.create, [bytes(path), bytes(data), ...anyone, int(0)]);
  }

  /** After what the leader has by now reached the member. */
  async get(path: string): Promise<string> {
    await this.#call(OP.sync, [bytes(path)]);
    const answer = await this.#call(OP.getData, [bytes(path), Buffer.from([0])]);
    return answer.subarray(4, 4 + answer.readInt32BE()).toString();
  }

  close(): void {
    this.#socket.end(frame([int((this.#xid += 1)), int(OP.close)]));
  }

  // The answer begins with xid, zxid and the error's number.
  async #call(op: number, body: readonly Buffer[]): Promise<Buffer> {
    const answer = await this.#ask(Buffer.concat([int((this.#xid += 1)), int(op), ...body]));
    const error = answer.readInt32BE(12);
    if (error !== 0) throw new Error(`ZooKeeper answers ${String(error)}`);
    return answer.subarray(16);
  }

  #ask(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) reject(new Error('ZooKeeper closed the connection'));
      this.#answers.push((answer) => (answer instanceof Error ? reject(answer) : resolve(answer)));
      this.#socket.write(frame([request]));
    });
  }

  #hear(chunk: Buffer): void {
    this.#heard = Buffer.concat([this.#heard, chunk]);
    while (this.#heard.length >= 4 && this.#heard.length >= 4 + this.#heard.readInt32BE()) {
      const end = 4 + this.#heard.readInt32BE();
      this.#answers.shift()?.(this.#heard.subarray(4, end));
      this.#heard = this.#heard.subarray(end);
    }
  }
}

function int(value: number): Buffer {
  const buffer = Buffer.alloc(4);
  buffer.writeInt32BE(value);
  return buffer;
}

function long(value: number): Buffer {
  const buffer = Buffer.alloc(8);
  buffer.writeBigInt64BE(BigInt(value));
  return buffer;
}

function bytes(value: string | Buffer): Buffer {
  const buffer = Buffer.from(value as string);
  return Buffer.concat([int(buffer.length), buffer]);
}

function frame(parts: readonly Buffer[]): Buffer {
  return bytes(Buffer.concat(parts));
}
