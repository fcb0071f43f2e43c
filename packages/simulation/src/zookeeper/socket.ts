import { EventEmitter } from 'node:events';
import type { Link, Direction } from '../link.ts';
import type { Dialled } from '../product.ts';
import { Connection, type IsDenied } from './connection.ts';
import type { Member } from './member.ts';

const LENGTH_BYTES = 4;

/**
 * The parts of a simulated socket: the link over which it sends, a function that returns whether the store
 * denies the client access, and a callback.
 */
export interface Wiring {
  readonly link: Link<Member>;
  readonly isDenied: IsDenied;
  /** Called for every message that the client sends. */
  readonly onSent: () => void;
}

/**
 * A simulated `Socket` with the methods and events that the client library of @queuelock/zookeeper uses.
 * Messages arrive in order. After a lost message, all later messages are lost too.
 */
export class SimulatedSocket extends EventEmitter {
  /** Whether the client knows that the socket is closed. */
  isOver = false;
  readonly #wiring: Wiring;
  readonly #connection: Connection;
  readonly #forget: () => void;
  readonly #last = { there: 0, back: 0 };
  readonly #life: number;
  readonly #isLost = { there: false, back: false };

  constructor(wiring: Wiring) {
    super();
    this.#wiring = wiring;
    const { link, isDenied } = wiring;
    const { member } = link;
    this.#life = member.machine.life;
    const close = (): void => this.#send('back', () => this.#over());
    const send = (frame: Buffer): void => this.#send('back', () => this.#receive(frame));
    this.#connection = new Connection(member, { send, close }, isDenied);
    this.#forget = link.onReset((reason) => {
      member.machine.do(() => this.#connection.gone());
      this.#fail(reason);
    });
    if (member.isUp) this.#greet();
    else link.client.later(1, () => this.#fail('connect ECONNREFUSED'));
  }

  /** Sends bytes to the member in one piece, which may contain several frames. */
  write(bytes: Buffer): void {
    // Copies the bytes, because the client may change the number in a request's buffer after it was sent.
    const frames = framesOf(Buffer.from(bytes));
    frames.forEach(() => this.#wiring.onSent());
    this.#send('there', () => frames.forEach((frame) => this.#connection.hear(frame)));
  }

  destroy(): void {
    if (this.isOver) return;
    this.#send('there', () => this.#connection.gone());
    this.#over();
  }

  /** Closes the socket because the client's process has ended. Its operating system notifies the member. */
  drop(): void {
    if (this.isOver) return;
    this.#send('there', () => this.#connection.gone());
    this.isOver = true;
    this.#forget();
  }

  /**
   * Connects to the member. The operating system of the member's machine accepts the connection, even while
   * the member's process is paused.
   */
  #greet(): void {
    const { link } = this.#wiring;
    const there = link.arrival('there');
    const back = link.arrival('back');
    if (there === undefined || back === undefined) return;
    link.deliver('back', Math.max(there, back), () => {
      if (!this.isOver) this.emit('connect');
    });
  }

  #receive(frame: Buffer): void {
    if (!this.isOver) this.emit('data', frame);
  }

  #send(way: Direction, task: () => void): void {
    const { link } = this.#wiring;
    if (way === 'there' && this.#life !== link.member.machine.life) return;
    const at = this.#isLost[way] || isLost(link, way) ? undefined : link.arrival(way);
    if (at === undefined) {
      this.#isLost[way] = true;
      return;
    }
    this.#last[way] = Math.max(this.#last[way], at);
    link.deliver(way, this.#last[way], task);
  }

  #fail(reason: string): void {
    if (this.isOver) return;
    this.emit('error', new Error(reason));
    this.#over();
  }

  #over(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#forget();
    this.#wiring.link.client.do(() => this.emit('close'));
  }
}

/** Splits bytes into frames. Each frame is a length and that many bytes. */
function framesOf(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + LENGTH_BYTES + bytes.readInt32BE(at);
    frames.push(bytes.subarray(at, end));
    at = end;
  }
  return frames;
}

function isLost(link: Link<Member>, way: Direction): boolean {
  return way === 'there' ? link.times() === 0 : link.isReplyLost;
}

/** Casts the simulated socket to the type of the platform's socket. */
export function dialled(socket: SimulatedSocket): Dialled {
  return { socket: socket as unknown as Dialled['socket'], ready: 'connect' };
}
