import type { Machine, Timeline } from '../timeline.ts';

interface Sent {
  readonly at: number;
  readonly task: () => void;
}

const AGAIN_MS = 50;

/**
 * One direction of a connection between two members. Messages arrive in order. A message that is sent while
 * the members cannot reach each other arrives later.
 */
export class Pipe {
  readonly #timeline: Timeline;
  readonly #to: Machine;
  readonly #isOpen: () => boolean;
  readonly #sent: Sent[] = [];
  #isOver = false;

  constructor(timeline: Timeline, to: Machine, isOpen: () => boolean) {
    this.#timeline = timeline;
    this.#to = to;
    this.#isOpen = isOpen;
  }

  /**
   * Sends a message that runs `task` on arrival: after `ms` milliseconds, or later if an earlier message is
   * delayed.
   */
  send(ms: number, task: () => void): void {
    if (this.#isOver) return;
    const at = Math.max(this.#timeline.now() + ms, this.#sent.at(-1)?.at ?? 0);
    this.#sent.push({ at, task });
    if (this.#sent.length === 1) this.#wait(ms);
  }

  /** Drops all messages in flight. */
  end(): void {
    this.#isOver = true;
    this.#sent.splice(0);
  }

  #wait(ms: number): void {
    this.#timeline.after(ms, this.#to, () => this.#deliver());
  }

  #deliver(): void {
    if (this.#isOver) return;
    if (!this.#isOpen()) {
      this.#wait(AGAIN_MS);
      return;
    }
    this.#sent.shift()?.task();
    const [next] = this.#sent;
    if (next) this.#wait(next.at - this.#timeline.now());
  }
}
