import { connect, type Socket } from 'node:net';
import { isInboxOf } from './inbox.ts';

/** A connection without messages is closed after this time, in milliseconds. */
const IDLE_MS = 10_000;

interface Peer {
  readonly socket: Socket;
  watched: boolean;
}

/**
 * Connections to the inboxes of other processes, to notify them and to learn at once when one of them closes. Both
 * are only hints: a message may be lost, and a process may continue after its connection closed.
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

  /** From now on these inboxes are watched, and no others. */
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
    // The path comes from the file, so only inboxes of this file are connected to.
    if (!isInboxOf(this.#file, inbox)) return undefined;
    const socket = connect(inbox);
    const peer = { socket, watched: false };
    this.#peers.set(inbox, peer);
    socket.unref();
    socket.setTimeout(IDLE_MS, () => {
      if (!peer.watched) socket.destroy();
    });
    // The close event follows and reports the end of the connection.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#peers.delete(inbox);
      if (!this.#closed) this.#onClosed(inbox);
    });
    // No reply ever arrives, but the end of the connection is reported only to a reader.
    socket.resume();
    return peer;
  }
}
