import { QueueLockError, type Session } from '@queuelock/core/backend';
import { NEVER, catchError, concat, of, throwError } from 'rxjs';
import { ADMITTED, placements, plain, type Defect, type Defects } from '../defective.ts';

const lastsHalfAsLong: Defect = () => ({
  backend: (sound) => ({
    open: async (ttlMs, signal) => ({ ...plain(await sound.open(ttlMs / 2, signal)), ttlMs }),
  }),
  session: (sound) => ({ renew: async (signal) => 2 * (await sound.renew(signal)) }),
});

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

/** Seeded defects in the expiry, renewal and closing of sessions, which the conformance suite must detect. */
export const livenessDefects: Defects = [
  [
    'promises more than the TTL',
    () => ({ session: (sound) => ({ renew: async (signal) => 2 * (await sound.renew(signal)) }) }),
    [
      'a renewal proves the session for a positive time of at most the TTL',
      'a crashed session keeps its entry for the time that its last renewal proved',
    ],
  ],
  [
    'acknowledges renewals without extending the session',
    () => ({ session: ({ ttlMs }) => ({ renew: async () => ttlMs }) }),
    ['a session that is renewed outlives its TTL'],
  ],
  [
    'removes the entries of a session before its TTL',
    lastsHalfAsLong,
    [
      'a session that is never renewed lives for its TTL, counted from the call that opened it',
      'a crashed session keeps its entry for the time that its last renewal proved',
    ],
  ],
  [
    'removes the entries of a dead session too late',
    keepsPingingForTheDead,
    [
      'all entries of a crashed session are removed soon after its TTL',
      'the entry of a waiter that dies is removed, and the next waiter is admitted only after the holder has left',
    ],
  ],
  [
    'rejects for a lost session with an error that is not definite',
    () => ({
      session: (sound) => ({
        renew: (signal) =>
          sound.renew(signal).catch((cause: unknown) => {
            throw new QueueLockError('UNAVAILABLE', 'no answer', { cause });
          }),
      }),
    }),
    [
      'calls on a crashed session are rejected with SESSION_LOST after its TTL',
      'calls on a closed session are rejected with SESSION_LOST, and closing it again does nothing',
    ],
  ],
  [
    'does not notice that an entry was removed',
    () =>
      placements((placement) => ({ ...placement, turns$: placement.turns$.pipe(catchError(() => NEVER)) })),
    [
      "the streams of turns of a crashed session's entries end with an error",
      'a holder whose entry an operator removes is notified, and the next waiter is admitted',
      'a waiter whose entry an operator removes is notified, and the waiters behind it move up',
      'a holder that is evicted is notified, and the next waiter is admitted',
      'a waiter that is evicted is notified, and the waiters behind it move up',
      'a writer that became a reader is notified when an operator removes its entry',
    ],
  ],
  [
    'takes the end of its own session for an admission',
    () =>
      placements((placement) => ({
        ...placement,
        turns$: placement.turns$.pipe(
          catchError((loss: unknown) =>
            concat(
              of(ADMITTED),
              throwError(() => loss as Error),
            ),
          ),
        ),
      })),
    ["the streams of turns of a crashed session's entries end with an error"],
  ],
  [
    'leaves a closed session to its TTL',
    () => ({ session: () => ({ close: async () => undefined }) }),
    [
      'closing a session removes its entries before the TTL has passed',
      'the end of the session removes a writer that became a reader',
      'calls on a closed session are rejected with SESSION_LOST, and closing it again does nothing',
    ],
  ],
  [
    'ends all sessions of a connection when one is closed',
    endsAllSessionsOfAConnection,
    ['closing one session of a connection does not affect the others'],
  ],
];
