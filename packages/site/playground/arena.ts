import type { Contenders } from '@queuelock/bridge';
import { QueueLockError, type LockClient } from '@queuelock/core';
import type { MemoryServer } from '@queuelock/memory';
import { Subject } from 'rxjs';
import { EventLog } from '../../cli/src/arena/event-log.ts';
import type { ArenaEvent } from '../../cli/src/arena/events.ts';
import { createStamp, millisOf } from '../../cli/src/stamp.ts';
import { Player } from './player.ts';

const INITIAL_CONTENDERS = 4;
const MAX_CONTENDERS = 8;
/** Maximum number of ended contenders that the page still shows. */
const MAX_GONE = 2;
const TTL_MS = 5_000;
const NANOSECONDS = 1e6;

/** The contenders of the playground, and the log of their events. */
export class Playground implements Contenders {
  readonly name = 'demo';
  readonly changed$ = new Subject<void>();
  readonly #server: MemoryServer;
  readonly #log = new EventLog();
  readonly #stamp = createStamp({
    monotonicNs: () => BigInt(Math.round(performance.now() * NANOSECONDS)),
    wallMs: () => Date.now(),
  });
  #players: readonly Player[] = [];
  #count = 0;

  constructor(server: MemoryServer, client: LockClient) {
    this.#server = server;
    client.watch(this.name).subscribe(({ status, entries }) => {
      if (status !== 'live') return;
      for (const player of this.#players) player.update(entries);
      this.changed$.next();
    });
    for (let number = 1; number <= INITIAL_CONTENDERS; number += 1) this.#add();
  }

  readonly draw: Contenders['draw'] = () => ({
    maxContenders: MAX_CONTENDERS,
    ttlMs: TTL_MS,
    canCut: true,
    cut: 'Each contender has a link of its own to the store in this page. Cut lets nothing through, in either direction.',
    contenders: this.#players.map(({ snapshot }) => snapshot),
    happenings: this.#log.entries.map(({ t, ...line }) => ({ ...line, at: millisOf(t) })),
  });

  readonly act: Contenders['act'] = async (act) => {
    await Promise.resolve();
    if (act.act === 'add') this.#add();
    else {
      const player = this.#players.find(({ id }) => id === act.id);
      if (!player) throw refused(`there is no contender ${act.id} any more`);
      try {
        player.act(act.act);
      } catch (error) {
        throw refused(error instanceof Error ? error.message : String(error));
      }
    }
    this.changed$.next();
  };

  #add(): void {
    const living = this.#players.filter(({ isGone }) => !isGone);
    if (living.length >= MAX_CONTENDERS)
      throw refused(`there are ${String(living.length)} contenders already`);
    this.#count += 1;
    const gone = this.#players.filter(({ isGone }) => isGone).slice(0, -MAX_GONE);
    const player = new Player({
      id: `c${String(this.#count)}`,
      number: this.#count,
      name: this.name,
      ttlMs: TTL_MS,
      server: this.#server,
      stamp: this.#stamp,
      emit: (event) => {
        this.#onEvent(event);
      },
    });
    this.#players = [...this.#players.filter((one) => !gone.includes(one)), player];
    this.changed$.next();
  }

  #onEvent(event: ArenaEvent): void {
    this.#log.add(event);
    this.changed$.next();
  }
}

function refused(why: string): QueueLockError {
  return new QueueLockError('INVALID_ARGUMENT', why);
}
