import { connect, type Socket } from 'node:net';
import { isInboxOf } from './inbox.ts';

/** Nobody was told anything for so long: the connection is not kept. */
const IDLE_MS = 10_000;

interface Peer {
  readonly socket: Socket;
  watched: boolean;
}

/**
 * The inboxes of others: to tell them something, and to learn at once that one of them closed. Nothing of it is certain: a message may
 * be lost, a closed inbox says only that it is time to look.
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

  tell(inbox: string, ord: number): void {
    this.#peer(inbox)?.socket.write(`${ord}\n`);
  }

  /** From now on these are watched, and no others. */
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
    // The path comes from the file: nothing but an inbox of this file is connected to.
    if (!isInboxOf(this.#file, inbox)) return undefined;
    const socket = connect(inbox);
    const peer = { socket, watched: false };
    this.#peers.set(inbox, peer);
    socket.unref();
    socket.setTimeout(IDLE_MS, () => {
      if (!peer.watched) socket.destroy();
    });
    // Said by the close that follows.
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#peers.delete(inbox);
      if (!this.#closed) this.#onClosed(inbox);
    });
    // Nothing is ever answered, but only who reads learns of the end.
    socket.resume();
    return peer;
  }
}
