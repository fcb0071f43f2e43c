import type { AttemptEvent } from '@queuelock/harness/check/event';

const REMEMBERED = 50;

interface Known {
  readonly token: bigint;
  acquired: bigint | undefined;
  believed: bigint | undefined;
  wasSeen: boolean;
}

/**
 * Counts violations of exclusion while workers still write their histories. In a violation, a worker's read
 * or write shows that it still believes that it holds, although another worker's later hold has begun. The
 * histories may be read in any order. What a frozen process believed is unknown, so it does not count.
 */
export class LiveBeliefs {
  violations = 0;
  readonly #queues = new Map<string, Known[]>();
  readonly #tokens = new Map<string, Map<number, bigint>>();

  take(event: AttemptEvent): void {
    const token = this.#tokenOf(event);
    if (token === undefined) return;
    if (event.ev === 'acquired') this.#learn(event.queue, token, { acquired: BigInt(event.t) });
    const believes = (event.ev === 'look' && event.held) || (event.ev === 'effect' && event.believed);
    if (believes) this.#learn(event.queue, token, { believed: BigInt(event.t) });
  }

  #tokenOf(event: AttemptEvent): bigint | undefined {
    const { who, n } = event;
    let tokens = this.#tokens.get(who);
    if (!tokens) this.#tokens.set(who, (tokens = new Map<number, bigint>()));
    if (event.ev === 'acquired') tokens.set(n, BigInt(event.token));
    const token = tokens.get(n);
    if (event.ev === 'left') tokens.delete(n);
    return token;
  }

  #learn(queue: string, token: bigint, news: { acquired?: bigint; believed?: bigint }): void {
    const known = this.#known(queue, token);
    known.acquired ??= news.acquired;
    const { believed } = news;
    if (believed !== undefined && believed > (known.believed ?? -1n)) known.believed = believed;
    for (const other of this.#queues.get(queue)!) {
      const [older, newer] = other.token < token ? [other, known] : [known, other];
      if (older.token === newer.token || older.wasSeen) continue;
      if (newer.acquired === undefined || older.believed === undefined) continue;
      if (older.believed <= newer.acquired) continue;
      older.wasSeen = true;
      this.violations += 1;
    }
  }

  #known(queue: string, token: bigint): Known {
    let line = this.#queues.get(queue);
    if (!line) this.#queues.set(queue, (line = []));
    let known = line.find((one) => one.token === token);
    if (!known) {
      known = { token, acquired: undefined, believed: undefined, wasSeen: false };
      line.push(known);
      if (line.length > REMEMBERED) line.shift();
    }
    return known;
  }
}
