import { connect, type Socket } from 'node:net';
import { isInboxOf } from './inbox.ts';

/** An idle connection is closed after this time in milliseconds, unless it is watched. */
const IDLE_MS = 10_000;

interface Peer {
  readonly socket: Socket;
  watched: boolean;
}

/**
 * Connections to the inboxes of other processes. They carry notifications, and the end of a connection shows
 * at once that a process may have ended. Both may fail: a message may be lost, and a process may continue
 * after its connection has closed.
 */
export class Peers {
  readonly #file: string;
  readonly #onClosed: (inbox: string) => void;
  readonly #peers = new Map<string, Peer>();
  #closed = false;

  constructor(file: string, onClosed: (inbox: string) => void) {
    this.#file = file;
    this.#onClosed = onClosed;
  }

  notify(inbox: string, ord: number): void {
    this.#peer(inbox)?.socket.write(`${ord}\n`);
  }

  /**
   * Keeps the connections to the given inboxes open from now on, even while they are idle. Connections to
   * other inboxes end when they become idle.
   */
  watch(inboxes: ReadonlySet<string>): void {
    for (const inbox of inboxes) this.#peer(inbox);
    for (const [inbox, peer] of this.#peers) peer.watched = inboxes.has(inbox);
  }

  close(): void {
    this.#closed = true;
    for (const { socket } of this.#peers.values()) socket.destroy();
  }

  #peer(inbox: string): Peer | undefined {
    if (this.#closed) return undefined;
    const known = this.#peers.get(inbox);
    if (known) return known;
    // Any program that may write to the lock file can have written this path. So only a path that belongs to a
    // socket of this lock file's clients is accepted.
    if (!isInboxOf(this.#file, inbox)) return undefined;
    const socket = connect(inbox);
    const peer = { socket, watched: false };
    this.#peers.set(inbox, peer);
    socket.unref();
    socket.setTimeout(IDLE_MS, () => {
      if (!peer.watched) socket.destroy();
    });
    // After an error of the socket, its event `close` follows, whose listener removes the connection.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#peers.delete(inbox);
      if (!this.#closed) this.#onClosed(inbox);
    });
    // An inbox sends nothing, but Node reports the end of a socket only if the socket is being read.
    socket.resume();
    return peer;
  }
}
