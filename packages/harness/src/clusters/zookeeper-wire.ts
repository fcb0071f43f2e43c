import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { splitEndpoint } from '../services/endpoint.ts';

/**
 * The part of ZooKeeper's protocol (zookeeper.jute, ZooDefs.OpCode) that is needed to write and read through
 * one member. It replaces the npm package `zookeeper`, which has a defect: after a lost connection it may
 * close a socket that another part of the process has opened since.
 */

const OP = { create: 1, delete: 2, getData: 4, setData: 5, getChildren: 8, sync: 9, close: -11 } as const;
const TIMEOUT_MS = 10_000;

/** Numbers of ZooKeeper's `KeeperException.Code` that callers distinguish. */
export const ZOOKEEPER_CODE = { noNode: -101, badVersion: -103, nodeExists: -110, notEmpty: -111 } as const;

export class ZooKeeperRefusal extends Error {
  override readonly name = 'ZooKeeperRefusal';
  readonly code: number;

  constructor(code: number) {
    super(`ZooKeeper answers ${String(code)}`);
    this.code = code;
  }
}

export class ZooKeeperWire {
  readonly #socket: Socket;
  readonly #responses: ((response: Buffer | Error) => void)[] = [];
  #received: Buffer = Buffer.alloc(0);
  #xid = 0;
  #sessionId = 0n;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
    socket.on('error', () => undefined);
    socket.once('close', () => {
      for (const response of this.#responses.splice(0))
        response(new Error('ZooKeeper closed the connection'));
    });
  }

  /**
   * Opens a new session on this member. Rejects when the member does not accept it within `withinMs`. With `unref` the connection does not keep the
   * process alive once it is open.
   */
  static async open(
    endpoint: string,
    { unref = false, withinMs = TIMEOUT_MS }: { readonly unref?: boolean; readonly withinMs?: number } = {},
  ): Promise<ZooKeeperWire> {
    const socket = connect({ ...splitEndpoint(endpoint), noDelay: true });
    if (unref) socket.unref();
    const late = new Error(`no session on ${endpoint} within ${withinMs} ms`);
    const timeout = setTimeout(() => socket.destroy(late), withinMs);
    try {
      await once(socket, 'connect');
      const wire = new ZooKeeperWire(socket);
      const hello = Buffer.concat([int(0), long(0), int(TIMEOUT_MS), long(0), bytes(Buffer.alloc(16))]);
      // The response begins with 8 bytes: the version of the protocol and the timeout of the session. The
      // session's id follows.
      wire.#sessionId = (await wire.#request(hello)).readBigUInt64BE(8);
      return wire;
    } finally {
      clearTimeout(timeout);
    }
  }

  /**
   * Opens a new session, and closes it when `use` has settled. The session sends no heartbeats, so the server
   * ends it when it is idle for longer than its timeout.
   */
  static async during<T>(endpoint: string, use: (wire: ZooKeeperWire) => Promise<T>): Promise<T> {
    const wire = await ZooKeeperWire.open(endpoint);
    try {
      return await use(wire);
    } finally {
      wire.close();
    }
  }

  /** Session id as the server writes it: `0x` and hexadecimal digits. */
  get sessionId(): string {
    return `0x${this.#sessionId.toString(16)}`;
  }

  async create(path: string, data: string): Promise<void> {
    const anyone = [int(1), int(31), bytes('world'), bytes('anyone')];
    await this.#call(OP.create, [bytes(path), bytes(data), ...anyone, int(0)]);
  }

  /** Deletes a node of any version. Rejects with `noNode` when it does not exist, and with `notEmpty` when it has children. */
  async delete(path: string): Promise<void> {
    await this.#call(OP.delete, [bytes(path), int(-1)]);
  }

  /** Reads a node after the member has caught up with the leader. */
  async get(path: string): Promise<string> {
    await this.#call(OP.sync, [bytes(path)]);
    const response = await this.#call(OP.getData, [bytes(path), Buffer.from([0])]);
    return response.subarray(4, 4 + response.readInt32BE()).toString();
  }

  /** Reads a node and its version as this member has them, which may be older than on the leader. */
  async read(path: string): Promise<{ readonly data: Buffer; readonly version: number }> {
    const response = await this.#call(OP.getData, [bytes(path), Buffer.from([0])]);
    const end = 4 + response.readInt32BE();
    // After the data follow four numbers of 64 bits, and then the version of the node.
    return { data: response.subarray(4, end), version: response.readInt32BE(end + 32) };
  }

  /** Writes the data of a node. Rejects with `badVersion` when the node has another version. */
  async write(path: string, { data, version }: { data: Uint8Array; version: number }): Promise<void> {
    await this.#call(OP.setData, [bytes(path), bytes(Buffer.from(data)), int(version)]);
  }

  /** Returns the names of a node's children after the member has caught up with the leader. */
  async children(path: string): Promise<string[]> {
    await this.#call(OP.sync, [bytes(path)]);
    const response = await this.#call(OP.getChildren, [bytes(path), Buffer.from([0])]);
    const names: string[] = [];
    for (let at = 4; at < response.length; at += 4 + response.readInt32BE(at)) {
      names.push(response.subarray(at + 4, at + 4 + response.readInt32BE(at)).toString());
    }
    return names;
  }

  get closed(): boolean {
    return this.#socket.destroyed || this.#socket.writableEnded;
  }

  /**
   * Closes the connection. Does not wait for the server and does not keep the process alive, because a server
   * that is cut off may notice the end late.
   */
  close(): void {
    this.#socket.unref();
    this.#socket.end(frame([int((this.#xid += 1)), int(OP.close)]));
  }

  // Sends a request. The reply begins with 16 bytes: xid, zxid and error number. Returns the bytes after them.
  async #call(op: number, body: readonly Buffer[]): Promise<Buffer> {
    const reply = await this.#request(Buffer.concat([int((this.#xid += 1)), int(op), ...body]));
    const error = reply.readInt32BE(12);
    if (error !== 0) throw new ZooKeeperRefusal(error);
    return reply.subarray(16);
  }

  #request(request: Buffer): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      if (this.#socket.destroyed) reject(new Error('ZooKeeper closed the connection'));
      this.#responses.push((response) => (response instanceof Error ? reject(response) : resolve(response)));
      this.#socket.write(frame([request]));
    });
  }

  #receive(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= 4 && this.#received.length >= 4 + this.#received.readInt32BE()) {
      const end = 4 + this.#received.readInt32BE();
      this.#responses.shift()?.(this.#received.subarray(4, end));
      this.#received = this.#received.subarray(end);
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
