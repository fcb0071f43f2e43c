import type { EntrySpec } from '@queuelock/core/backend';
import { plain, changedSpecs, type CompleteSession, type Defect, type Defects } from '../defective.ts';

/**
 * Returns a function that replaces each spec by the first spec with the same id, which is the one in the
 * store.
 */
function asFirstAsked(): (spec: EntrySpec) => EntrySpec {
  const first = new Map<string, EntrySpec>();
  return (spec) => {
    const known = first.get(spec.id) ?? spec;
    first.set(spec.id, known);
    return known;
  };
}

/**
 * A defect: a client that enters again gets its stored entry, even if it requests another mode or other
 * permits.
 */
const believesTheCaller: Defect = () => changedSpecs(asFirstAsked());

/**
 * A defect: a client that enters again in a resumed session gets the stored entry, even if it requests
 * another mode or other permits.
 */
const believesResumers: Defect = () => {
  const known = asFirstAsked();
  const shared = new Set<string>();
  const asStored = (spec: EntrySpec): EntrySpec =>
    shared.has(spec.id) ? { ...known(spec), shared: true } : known(spec);
  const lenient = (sound: CompleteSession): Partial<CompleteSession> => ({
    enqueue: (spec) => sound.enqueue(asStored(spec)),
  });
  return {
    session: (sound) => ({
      enqueue: (spec) => sound.enqueue(known(spec)),
      share: (queue, id, value) => {
        shared.add(id);
        return sound.share(queue, id, value);
      },
    }),
    backend: (sound) => ({
      resume: async (resumption, signal) => {
        const session = plain(await sound.resume(resumption, signal));
        return { ...session, ...lenient(session) };
      },
    }),
  };
};

/** Seeded defects in entries that a client enters again, which the conformance suite must detect. */
export const sameEntryDefects: Defects = [
  [
    'accepts any spec for an existing entry',
    believesTheCaller,
    [
      'entering again with another mode or other permits is refused, and the entry keeps its mode and permits',
      'entering another queue with the id of an entry is refused, and adds no entry to that queue',
    ],
  ],
  [
    'accepts any spec for an existing entry from a client that resumes',
    believesResumers,
    [
      'entries of a resumed session keep the mode and the permits that are stored',
      'a writer that has become a reader can be resumed only as a reader',
    ],
  ],
];
