import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

/**
 * A proxy between one contender and the servers of its store. Any process of this machine can connect to it,
 * so it relays only connections that begin with the contender's secret text.
 */
export interface ContenderProxy {
  /** URL by which the contender reaches the store through the proxy. */
  readonly url: string;
  /** Secret with which a connection to the proxy must begin. */
  readonly secret: string;
  /** Stops all data in both directions. The connections stay open, as if a network cable were cut. */
  cut(): void;
  /** Resumes the transfer, including data that waited in the proxy. */
  mend(): void;
  close(): void;
}

const SERVERS = /^(etcd|zk|redis|postgres|postgresql|mysql|mariadb|consul):\/\/([^/?]*@)?([^/?]*)(.*)$/is;
/**
 * Matches URLs whose connections a proxy cannot authenticate: the npm package zookeeper opens its sockets
 * itself, without the secret.
 */
const USES_NATIVE_TRANSPORT = /[?&]transport=native(&|$)/;
const SECRET_BYTES = 32;
const INTRODUCED_WITHIN_MS = 5_000;
const PORTS: Readonly<Record<string, number>> = {
  etcd: 2379,
  zk: 2181,
  redis: 6379,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  mariadb: 3306,
  consul: 8500,
};

/**
 * Returns whether a proxy can relay the connections of a URL. The URL must name servers, and must not use
 * TLS, because certificates do not contain the proxy's name.
 */
export function canProxy(url: string): boolean {
  return SERVERS.test(url) && !USES_NATIVE_TRANSPORT.test(url);
}

/** Opens a proxy for each server of the URL. */
export async function openContenderProxy(url: string): Promise<ContenderProxy> {
  const [, scheme = '', user = '', hosts = '', rest = ''] = SERVERS.exec(url) ?? [];
  const gate = new Gate();
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  const targets = hosts.split(',').map((host) => targetOf(host, PORTS[scheme.toLowerCase()] ?? 0));
  const proxies = targets.map((target) => new Proxy(target, { gate, secret: Buffer.from(secret) }));
  const addresses = await Promise.all(proxies.map((proxy) => proxy.listen()));
  return {
    url: `${scheme}://${user}${addresses.join(',')}${rest}`,
    secret,
    cut: () => {
      gate.shut();
    },
    mend: () => {
      gate.open();
    },
    close() {
      for (const proxy of proxies) proxy.close();
      gate.open();
    },
  };
}

interface Target {
  readonly host: string;
  readonly port: number;
}

function targetOf(text: string, usual: number): Target {
  const [, bracketed, plain, port] = /^(?:\[(.*)\]|([^:]*))(?::(\d+))?$/.exec(text) ?? [];
  return { host: bracketed ?? (plain || '127.0.0.1'), port: Number(port ?? usual) };
}

/**
 * Pauses and resumes the data that a proxy forwards. The data passes while the gate is open, and waits while
 * it is shut.
 */
class Gate {
  #opened: Promise<void> = Promise.resolve();
  #open: (() => void) | undefined;

  /** Resolves when data may pass the proxy: at once while the gate is open, and otherwise when it opens. */
  get opened(): Promise<void> {
    return this.#opened;
  }

  shut(): void {
    if (this.#open) return;
    this.#opened = new Promise((resolve) => {
      this.#open = resolve;
    });
  }

  open(): void {
    this.#open?.();
    this.#open = undefined;
  }
}

class Proxy {
  readonly #target: Target;
  readonly #gate: Gate;
  readonly #secret: Buffer;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  constructor(target: Target, { gate, secret }: { readonly gate: Gate; readonly secret: Buffer }) {
    this.#target = target;
    this.#gate = gate;
    this.#secret = secret;
    this.#server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
      void this.#connect(client);
    });
  }

  /** Starts to accept connections on a free local port. Resolves with the address, as `host:port`. */
  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${String((this.#server.address() as AddressInfo).port)}`;
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }

  async #connect(client: Socket): Promise<void> {
    this.#sockets.add(client);
    if (!(await startsWithSecret(client, this.#secret))) {
      client.destroy();
      this.#sockets.delete(client);
      return;
    }
    const server = connect({ ...this.#target, allowHalfOpen: true, noDelay: true });
    const pair = [client, server];
    this.#sockets.add(server);
    // Ignores the errors of a connection, because the contender and the server detect them themselves.
    await Promise.allSettled([this.#carry(client, server), this.#carry(server, client)]);
    for (const socket of pair) {
      socket.destroy();
      this.#sockets.delete(socket);
    }
  }

  #carry(from: Socket, to: Socket): Promise<void> {
    const gate = this.#gate;
    const through = new Transform({
      transform(chunk, _encoding, done) {
        void gate.opened.then(() => {
          done(null, chunk);
        });
      },
      flush(done) {
        void gate.opened.then(() => {
          done();
        });
      },
    });
    return pipeline(from, through, to);
  }
}

/**
 * Reads the beginning of a connection. Resolves with whether it equals the contender's secret. The data after
 * the secret stays unread.
 */
function startsWithSecret(client: Socket, secret: Buffer): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isKnown: boolean): void => {
      clearTimeout(late);
      client.off('readable', readState);
      for (const event of ENDS) client.off(event, refuse);
      resolve(isKnown);
    };
    const readState = (): void => {
      const read = client.read(secret.length) as Buffer | null;
      if (read !== null) settle(read.length === secret.length && timingSafeEqual(read, secret));
    };
    const refuse = (): void => settle(false);
    const late = setTimeout(refuse, INTRODUCED_WITHIN_MS);
    client.on('readable', readState);
    for (const event of ENDS) client.on(event, refuse);
  });
}

const ENDS = ['end', 'error', 'close'] as const;
