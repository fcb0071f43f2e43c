import { QueueLockError } from '@queuelock/core/backend';
import { memory } from '@queuelock/memory';
import { complete, plain, type CompleteSession, type Defect, type Defects } from '../defective.ts';

/** Makes a defect that changes sessions after they were resumed. */
function resumed(change: (sound: CompleteSession) => Partial<CompleteSession>): Defect {
  return () => ({
    backend: (sound) => ({
      resume: async (resumption, signal) => {
        const session = plain(await sound.resume(resumption, signal));
        return { ...session, ...change(session) };
      },
    }),
  });
}

/** Makes a defect: the backend resumes only the sessions that `may` allows. */
function resumable(may: (resumption: string) => boolean): Pick<ReturnType<Defect>, 'backend'> {
  return {
    backend: (sound) => ({
      resume: async (resumption, signal) => {
        if (!may(resumption)) throw new QueueLockError('SESSION_LOST', 'nothing is known of it');
        return sound.resume(resumption, signal);
      },
    }),
  };
}

const resumesWhatWasAbandoned: Defect = () => {
  const left = new Set<string>();
  return {
    ...resumable((resumption) => left.has(resumption)),
    session: (sound) => ({
      abandon: () => {
        left.add(sound.resumption);
        return sound.abandon();
      },
    }),
  };
};

const resumesOnce: Defect = () => {
  const seen = new Set<string>();
  return resumable((resumption) => seen.size < seen.add(resumption).size);
};

const goesOnRenewing: Defect = (server) => ({
  session: (sound) => ({
    abandon: async () => {
      const { signal } = new AbortController();
      const kept = await complete(memory({ server })).resume(sound.resumption, signal);
      const renewals = setInterval(() => {
        kept.renew(signal).catch(() => {
          clearInterval(renewals);
        });
      }, 20);
      setTimeout(() => {
        clearInterval(renewals);
      }, 1_500).unref();
    },
  }),
});

const renewsForAnybody: Defect = (server) => ({
  session: (sound) => ({
    renew: async (signal) => {
      try {
        return await sound.renew(signal);
      } catch (error) {
        if (server.sessionIds.includes(sound.id)) return sound.ttlMs;
        throw error;
      }
    },
  }),
});

/**
 * Seeded defects in sessions that one process abandons and another process resumes, which the conformance suite
 * must detect.
 */
export const resumptionDefects: Defects = [
  [
    'opens a new session instead of the resumed one',
    () => ({ backend: (sound) => ({ resume: (_resumption, signal) => sound.open(400, signal) }) }),
    [
      'a resumed session keeps its entries at their positions',
      'a session that was closed cannot be resumed',
      'a session that is not resumed ends with its TTL, and cannot be resumed later',
    ],
  ],
  [
    'gives a resumed session new positions',
    resumed((sound) => ({ enqueue: (spec) => sound.enqueue({ ...spec, id: `${spec.id}-again` }) })),
    [
      'a resumed session keeps its entries at their positions',
      'a waiter of a resumed session keeps its position',
    ],
  ],
  [
    'ends a session that is abandoned',
    () => ({ session: (sound) => ({ abandon: () => sound.close() }) }),
    [
      'a resumed session keeps its entries at their positions',
      'a waiter of a resumed session keeps its position',
      'a session that is not resumed ends with its TTL, and cannot be resumed later',
    ],
  ],
  [
    'continues to renew a session that it has abandoned',
    goesOnRenewing,
    ['a session that is not resumed ends with its TTL, and cannot be resumed later'],
  ],
  [
    'resumes only sessions that were abandoned',
    resumesWhatWasAbandoned,
    ['a session whose process died can be resumed'],
  ],
  [
    'does not renew a resumed session',
    resumed(({ ttlMs }) => ({ renew: async () => ttlMs })),
    ['a resumed session that is renewed outlives its TTL'],
  ],
  [
    'renews a session also for its former client',
    renewsForAnybody,
    ['a session that was resumed elsewhere is lost to its former client at its next renewal'],
  ],
  [
    'ends a session when its former client closes it',
    (server) => ({ session: (sound) => ({ close: async () => void server.expireSession(sound.id) }) }),
    ['a former client that closes a session after it was resumed elsewhere does not end it'],
  ],
  [
    'keeps unclaimed entries of a resumed session',
    () => ({ session: () => ({ removeUnclaimed: async () => undefined }) }),
    ['unclaimed entries of a resumed session are removed on demand, and no others'],
  ],
  [
    'removes the entries of a session that was opened, as if they were unclaimed',
    () => ({ session: (sound) => ({ removeUnclaimed: () => sound.close() }) }),
    ['a session that was opened keeps its entries when its unclaimed entries are removed'],
  ],
  ['resumes a session once', resumesOnce, ['a session can be abandoned and resumed repeatedly']],
];
