import dns from 'node:dns';
import type { LookupFunction, Socket } from 'node:net';

interface Connection {
  readonly socket: Socket;
  readonly address: string;
  readonly isMade: () => boolean;
}

/**
 * Orders the addresses of one host name. An address at which a socket connected, but HTTP/2 did not begin, comes after the others. Node itself tries
 * the next address only if no socket connects to the first, and a frozen member still accepts sockets, as does a proxy whose member is gone.
 */
export class AddressOrder {
  /** The addresses without HTTP/2 at the last attempt, the latest attempt last. */
  readonly #failed = new Set<string>();
  /** The connections whose sockets are connected. */
  readonly #open = new Set<Connection>();

  /** Resolves a host name by `dns.lookup`, and orders the addresses. */
  readonly lookup: LookupFunction = (host, options, found) => {
    dns.lookup(host, options, (error, addresses, family) => {
      found(error, Array.isArray(addresses) ? this.#ordered(addresses) : addresses, family);
    });
  };

  /** Records the outcome of a connection when its socket is destroyed. `isMade` returns whether HTTP/2 has begun on it. */
  follow(socket: Socket, isMade: () => boolean): void {
    socket.once('connect', () => {
      this.#open.add({ socket, address: socket.remoteAddress ?? '', isMade });
      socket.once('close', () => this.#recordEnded());
    });
  }

  #recordEnded(): void {
    for (const connection of this.#open) {
      const { socket, address, isMade } = connection;
      if (!socket.destroyed) continue;
      this.#open.delete(connection);
      this.#failed.delete(address);
      if (!isMade()) this.#failed.add(address);
    }
  }

  #ordered(addresses: readonly dns.LookupAddress[]): dns.LookupAddress[] {
    // A call may fail before the socket emits `close`, and the next call opens a connection at once.
    this.#recordEnded();
    const known = new Map(addresses.map((entry) => [entry.address, entry]));
    const failed: dns.LookupAddress[] = [];
    for (const address of this.#failed) {
      const entry = known.get(address);
      if (entry) failed.push(entry);
      // Forgets an address that the host name no longer has.
      else this.#failed.delete(address);
    }
    return [...addresses.filter(({ address }) => !this.#failed.has(address)), ...failed];
  }
}
