import { posix } from 'node:path';
import { QueueLockError, type Session, type Turn } from '@queuelock/core/backend';
import { memory, type MemoryEntry, type MemoryServer } from '@queuelock/memory';
import { NEVER, Subject, catchError, concat, filter, finalize, map, merge, of, takeUntil } from 'rxjs';
import { names, pictures, placements, plain, traces, wishes, type Defect } from './defective.ts';

const ADMITTED: Turn = { admitted: true };

function line(server: MemoryServer, queue: string): readonly MemoryEntry[] {
  return server.queues().get(queue) ?? [];
}

/** Sends a request a round of the event loop late, as a connection does that is not ordered. */
function later<T>(send: () => Promise<T>): Promise<T> {
  return new Promise<void>((resolve) => setImmediate(resolve)).then(send);
}

/** Whoever holds in this scope is admitted again. */
function reentrant(sound: Session, holding: Set<string>): Partial<Session> {
  return {
    enqueue: async (spec) => {
      const placement = await sound.enqueue(spec);
      const turn = holding.has(spec.queue) ? ADMITTED : placement.turn;
      if (turn.admitted) holding.add(spec.queue);
      return { ...placement, turn };
    },
  };
}

const lastsHalfAsLong: Defect = () => ({
  backend: (sound) => ({
    open: async (ttlMs, signal) => ({ ...plain(await sound.open(ttlMs / 2, signal)), ttlMs }),
  }),
  session: (sound) => ({ renew: async (signal) => 2 * (await sound.renew(signal)) }),
});

const oneWakeUpForMany: Defect = () => {
  let woken = false;
  const isFirst = (): boolean => {
    if (woken) return false;
    setImmediate(() => (woken = false));
    return (woken = true);
  };
  return placements((placement) => ({
    ...placement,
    turns$: placement.turns$.pipe(
      filter(({ admitted }) => !admitted || placement.turn.admitted || isFirst()),
    ),
  }));
};

const trustsPredecessor: Defect = (server) =>
  placements((placement, { queue, id }) => {
    const entries = line(server, queue);
    const ahead = entries[entries.findIndex((entry) => entry.id === id) - 1];
    if (!ahead) return placement;
    const aheadGone$ = memory({ server })
      .observe(queue)
      .pipe(
        filter((seen) => !seen.some(({ key }) => key === ahead.key)),
        map(() => ADMITTED),
      );
    return { ...placement, turns$: merge(placement.turns$, aheadGone$) };
  });

const wakesEverybody: Defect = () => {
  const herd$ = new Subject<Turn>();
  return placements((placement) => ({
    ...placement,
    turns$: merge(
      herd$,
      placement.turns$.pipe(
        map((turn) => {
          if (turn.admitted && !placement.turn.admitted) herd$.next(ADMITTED);
          return turn;
        }),
      ),
    ),
  }));
};

const watchesTheHeadOnly: Defect = (server) =>
  placements((placement, { queue }) => {
    const head = line(server, queue)[0]?.id;
    const sees = (turn: Turn): boolean => !turn.admitted || line(server, queue)[0]?.id !== head;
    return placement.turn.admitted
      ? placement
      : { ...placement, turns$: placement.turns$.pipe(filter(sees)) };
  });

/** A newcomer is let in front of whoever waits: they leave and join again behind it. */
const losesPlaces: Defect = () => {
  let rejoin = async (): Promise<void> => undefined;
  return {
    session: (sound) => ({
      enqueue: async (spec) => {
        const placement = await sound.enqueue(spec);
        if (placement.turn.admitted) return placement;
        await rejoin();
        const turn$ = new Subject<Turn>();
        const follow = (turns$: typeof placement.turns$): void => {
          turns$.subscribe({
            next: (turn) => {
              turn$.next(turn);
            },
            error: () => undefined,
          });
        };
        follow(placement.turns$);
        rejoin = async () => {
          await sound.remove(spec.queue, spec.id);
          follow((await sound.enqueue(spec)).turns$);
        };
        return { ...placement, turns$: turn$ };
      },
    }),
  };
};

const keepsPingingForTheDead: Defect = () => ({
  session: (sound) => {
    const pings = setInterval(() => {
      sound.renew(new AbortController().signal).catch(() => {
        clearInterval(pings);
      });
    }, 20);
    setTimeout(() => {
      clearInterval(pings);
    }, 1_500).unref();
    return {};
  },
});

const endsAllSessionsOfAConnection: Defect = () => ({
  backend: (sound) => {
    const sessions: Session[] = [];
    return {
      open: async (ttlMs, signal) => {
        const session = await sound.open(ttlMs, signal);
        sessions.push(session);
        const close = async (): Promise<void> => {
          await Promise.all(sessions.map((one) => one.close()));
        };
        return { ...plain(session), close };
      },
    };
  },
});

const oneObserverEndsAll: Defect = () => ({
  backend: (sound) => {
    const stop$ = new Subject<void>();
    return {
      observe(queue) {
        const seen$ = sound.observe(queue).pipe(takeUntil(stop$));
        return concat(seen$, NEVER).pipe(
          finalize(() => {
            stop$.next();
          }),
        );
      },
    };
  },
});

const keepsThoseWhoGiveUp: Defect = (server) => ({
  session: (sound) => ({
    remove: async (queue, id) => {
      const waits = line(server, queue).some((entry) => entry.id === id && !entry.admitted);
      return waits || sound.remove(queue, id);
    },
  }),
});

/** What is broken, how, and which facts must see it. */
export const defects: readonly (readonly [what: string, defect: Defect, facts: readonly string[]])[] = [
  [
    'admits two at a time',
    () => wishes((spec) => ({ ...spec, limit: spec.limit + 1 })),
    [
      'three connections are served in the order they joined',
      'a semaphore admits as many as it has permits',
      'of several tries at the same time exactly one is admitted',
      'twelve contenders on four connections are all served, one at a time, with growing tokens',
    ],
  ],
  [
    'never tells anybody that the turn has come',
    () => placements((placement) => ({ ...placement, turns$: NEVER })),
    ['three connections are served in the order they joined', 'a session that is renewed outlives its TTL'],
  ],
  [
    'completes the turns once they are told',
    () => placements((placement) => ({ ...placement, turns$: of(placement.turn) })),
    ['three connections are served in the order they joined'],
  ],
  [
    'loses the order of joining',
    losesPlaces,
    [
      'a waiter that leaves the middle is skipped and wakes nobody',
      'three connections are served in the order they joined',
    ],
  ],
  [
    'numbers backwards',
    () => placements((placement) => ({ ...placement, order: -placement.order })),
    ['orders grow in the order of joining'],
  ],
  [
    'starts its tokens again in every empty queue',
    (server) =>
      placements((placement, { queue }) => ({ ...placement, token: BigInt(line(server, queue).length) })),
    ['the tokens of successive holders grow, also after the queue was empty'],
  ],
  ['wakes everybody at every release', wakesEverybody, ['a removal wakes exactly the next in line']],
  [
    'takes the end of the one ahead for the own turn',
    trustsPredecessor,
    [
      'a waiter that leaves the middle is skipped and wakes nobody',
      'a waiter of a semaphore that gives up takes no permit with it',
      'a waiter that dies is skipped, and the holder stays alone',
    ],
  ],
  [
    'is reentrant for a session',
    () => ({ session: (sound) => reentrant(sound, new Set()) }),
    ['several entries of one session queue behind each other'],
  ],
  [
    'is reentrant for a connection',
    () => ({
      backend: (sound) => {
        const holding = new Set<string>();
        return {
          open: async (ttlMs, signal) => {
            const session = plain(await sound.open(ttlMs, signal));
            return { ...session, ...reentrant(session, holding) };
          },
        };
      },
    }),
    ['sessions of one connection queue behind each other'],
  ],
  [
    'answers true to every removal',
    () => ({
      session: (sound) => ({ remove: async (queue, id) => (await sound.remove(queue, id)) || true }),
    }),
    [
      'a removal answers true once and false after that',
      'the removal of an id that never entered answers false',
    ],
  ],
  [
    'removes nothing',
    () => ({ session: () => ({ remove: async () => true }) }),
    ['a removal wakes exactly the next in line', 'after everybody has left nothing is left'],
  ],
  [
    'gives every call a new place',
    () => wishes((spec) => ({ ...spec, id: `${spec.id}${String(Math.random())}` })),
    ['entering twice with one id takes one place'],
  ],
  [
    'lets a removal overtake an enqueue',
    () => ({ session: (sound) => ({ enqueue: (spec) => later(() => sound.enqueue(spec)) }) }),
    [
      'an id removed while its enqueue is on its way never appears (remove awaited first)',
      'an id removed while its enqueue is on its way never appears (enqueue awaited first)',
      'an id removed while it joins the line never appears in it',
      'an id removed after it entered twice never appears again',
    ],
  ],
  [
    'lets a removal overtake a try',
    () => ({ session: (sound) => ({ tryEnqueue: (spec) => later(() => sound.tryEnqueue(spec)) }) }),
    ['an id removed while its try is on its way never appears'],
  ],
  [
    'removes an entry whose turns are not followed any more',
    () =>
      placements((placement, { queue, id }, sound) => ({
        ...placement,
        turns$: placement.turns$.pipe(finalize(() => void sound.remove(queue, id))),
      })),
    ['an entry whose turns nobody follows keeps its place'],
  ],
  [
    'keeps the entries of waiters that give up',
    keepsThoseWhoGiveUp,
    [
      'a waiting writer that gives up lets the readers behind it join those who hold',
      'after everybody has left nothing is left',
      'a waiter of a semaphore that gives up takes no permit with it',
    ],
  ],
  [
    'knows no readers',
    () => wishes((spec) => ({ ...spec, shared: false })),
    ['readers share, and a writer waits for all of them', 'an observer tells readers from writers'],
  ],
  [
    'lets readers pass a writer',
    () => wishes((spec) => (spec.shared ? { ...spec, limit: 2 } : spec)),
    [
      'a reader that comes later waits behind the writer that waits',
      'a shared try passes readers and no writer',
    ],
  ],
  [
    'wakes one where several may go',
    oneWakeUpForMany,
    ['all readers behind a writer are admitted when it leaves, up to the next writer'],
  ],
  [
    'knows one permit only',
    () => wishes((spec) => ({ ...spec, limit: 1 })),
    [
      'a semaphore admits as many as it has permits',
      'a try at a semaphore is admitted while a permit is free',
    ],
  ],
  [
    'looks again only when the first in line leaves',
    watchesTheHeadOnly,
    [
      'a permit goes to the next in line, whichever holder returns it',
      'a waiting writer that gives up lets the readers behind it join those who hold',
    ],
  ],
  [
    'leaves the entry of a try in line',
    () => ({
      session: (sound) => ({
        tryEnqueue: async (spec) => {
          const placement = await sound.enqueue(spec);
          return placement.turn.admitted ? placement : undefined;
        },
      }),
    }),
    [
      'a try on a busy queue answers undefined and leaves nothing',
      'tries never hold up those who wait',
      'after everybody has left nothing is left',
    ],
  ],
  [
    'never admits a try',
    () => ({ session: () => ({ tryEnqueue: async () => undefined }) }),
    [
      'a try on a free queue is admitted and holds like any other',
      'of several tries at the same time exactly one is admitted',
    ],
  ],
  [
    'shows no empty queue',
    () => pictures((picture) => (picture.length > 0 ? picture : undefined)),
    ['an observer sees an empty queue at once', 'an observer follows joins and leaves in order'],
  ],
  [
    'shows a queue backwards',
    () => pictures((picture) => [...picture].reverse()),
    ['an observer sees the present queue first, in order'],
  ],
  [
    'shows a queue once',
    () => pictures((picture, number) => (number === 0 ? picture : undefined)),
    ['an observer follows joins and leaves in order', 'a value is seen by others and can be replaced'],
  ],
  [
    'stops all observers with one',
    oneObserverEndsAll,
    ['an observer that stops takes nothing from the others'],
  ],
  [
    'forgets updates',
    () => ({ session: () => ({ update: async () => true }) }),
    [
      'a value is seen by others and can be replaced',
      'an update of an entry that is not there answers false',
    ],
  ],
  [
    'cuts values',
    () => wishes((spec) => (spec.value === undefined ? spec : { ...spec, value: spec.value.slice(0, 512) })),
    ['a value of 1,024 bytes arrives as it was given'],
  ],
  [
    'promises more than the TTL',
    () => ({ session: (sound) => ({ renew: async (signal) => 2 * (await sound.renew(signal)) }) }),
    [
      'a renewal promises a positive time of at most the TTL',
      'a crashed session keeps its place for as long as its last renewal promised',
    ],
  ],
  [
    'acknowledges renewals without doing them',
    () => ({ session: ({ ttlMs }) => ({ renew: async () => ttlMs }) }),
    ['a session that is renewed outlives its TTL'],
  ],
  [
    'frees early',
    lastsHalfAsLong,
    [
      'a session that is never renewed lives for its TTL from the call that opened it',
      'a crashed session keeps its place for as long as its last renewal promised',
    ],
  ],
  [
    'frees late',
    keepsPingingForTheDead,
    [
      'a crashed session frees all its places soon after its TTL',
      'a waiter that dies is skipped, and the holder stays alone',
    ],
  ],
  [
    'does not say for sure that a session is lost',
    () => ({
      session: (sound) => ({
        renew: (signal) =>
          sound.renew(signal).catch((cause: unknown) => {
            throw new QueueLockError('UNAVAILABLE', 'no answer', { cause });
          }),
      }),
    }),
    [
      'a crashed session that calls again learns that it is lost',
      'a closed session answers SESSION_LOST, and closing it again does nothing',
    ],
  ],
  [
    'does not notice that an entry is gone',
    () =>
      placements((placement) => ({ ...placement, turns$: placement.turns$.pipe(catchError(() => NEVER)) })),
    [
      'the turns of a crashed session end',
      'a holder whose entry an operator removes learns it, and the next one is admitted',
      'a waiter whose entry an operator removes learns it, and the line closes up',
    ],
  ],
  [
    'leaves a closed session to its TTL',
    () => ({ session: () => ({ close: async () => undefined }) }),
    [
      'closing a session frees its places at once',
      'a closed session answers SESSION_LOST, and closing it again does nothing',
    ],
  ],
  [
    'ends all sessions of a connection with one',
    endsAllSessionsOfAConnection,
    ['closing one session of a connection leaves the others alone'],
  ],
  [
    'stores parts of a path',
    () => names((queue) => queue.split('/').find(Boolean) ?? ''),
    ['names that nest are separate queues'],
  ],
  [
    'walks paths',
    () => names((queue) => posix.normalize(queue)),
    ['names with dots are separate queues', 'names that nest are separate queues'],
  ],
  [
    'takes an escape for what it stands for',
    () => names((queue) => queue.replace(/%20|\+/g, ' ')),
    ['names with signs of encodings are separate queues'],
  ],
  ['trims names', () => names((queue) => queue.trim()), ['names with quotes and blanks are separate queues']],
  [
    'takes names for entries',
    () => names((queue) => queue.replace(/(-lock-|\/)\d{10}$/, '')),
    ['names that look like stored entries are separate queues'],
  ],
  [
    'knows ASCII only',
    () => names((queue) => queue.replace(/[^ -~]/g, '?')),
    ['names of other scripts are separate queues'],
  ],
  [
    'ignores case',
    () => names((queue) => queue.toLowerCase()),
    ['names that differ in case or normal form only are separate queues'],
  ],
  [
    'normalizes names',
    () => names((queue) => queue.normalize('NFC')),
    ['names that differ in case or normal form only are separate queues'],
  ],
  [
    'cuts long names',
    () => names((queue) => queue.slice(0, 100)),
    ['names of 200 bytes are separate queues'],
  ],
  [
    'forgets traces with the session',
    () => traces(() => ({ leave: async () => [] })),
    [
      'a hold whose session ended leaves a trace until it is erased',
      'a hold that an operator ended leaves a trace, also when its client removes it afterwards',
    ],
  ],
  [
    'leaves a trace whatever the end',
    (server) => {
      const left = new Set<string>();
      return traces((sound) => ({
        leave: async (queue, id) => {
          await sound.leave(queue, id);
          const others = [...left].filter(
            (trace) => !line(server, queue).some((entry) => entry.id === trace),
          );
          left.add(id);
          return others.filter((trace) => trace !== id);
        },
      }));
    },
    [
      'a hold that ended by its removal leaves no trace',
      'a hold whose session ended leaves a trace until it is erased',
    ],
  ],
  [
    'takes a hold for a trace',
    (server) =>
      traces((sound) => ({
        leave: async (queue, id) => {
          const found = await sound.leave(queue, id);
          return [...found, ...line(server, queue).flatMap((entry) => (entry.id === id ? [] : [entry.id]))];
        },
      })),
    ['a hold that goes on is no trace to another'],
  ],
  [
    'finds traces by the start of a name',
    () => {
      const left = new Map<string, string>();
      return traces((sound) => ({
        leave: async (queue, id) => {
          const found = await sound.leave(queue, id);
          left.set(id, queue);
          return [
            ...found,
            ...[...left].flatMap(([other, of]) => (of.startsWith(`${queue}/`) ? [other] : [])),
          ];
        },
      }));
    },
    ['a trace of one queue is none of another whose name goes on from it'],
  ],
  [
    'leaves a trace for an entry that is not there',
    () => {
      const late: string[] = [];
      return traces((sound) => ({
        leave: async (queue, id) => {
          const found = await sound.leave(queue, id).catch(() => {
            late.push(id);
            return [];
          });
          return [...found, ...late.filter((trace) => trace !== id)];
        },
      }));
    },
    ['who is not in the queue leaves no trace'],
  ],
  [
    'lets a trace be left after the removal',
    () => {
      const late: string[] = [];
      return traces((sound) => ({
        leave: async (queue, id) => {
          const found = sound.leave(queue, id);
          late.push(id);
          return [...(await found), ...late.filter((trace) => trace !== id)];
        },
      }));
    },
    ['an entry that is removed while its trace is on its way leaves none'],
  ],
  [
    'takes any name',
    () => ({ backend: () => ({ checkName: () => undefined }) }),
    ['an empty name is refused with INVALID_ARGUMENT'],
  ],
];
