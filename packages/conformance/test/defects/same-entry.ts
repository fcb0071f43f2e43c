import type { EntrySpec } from '@queuelock/core/backend';
import { plain, changedSpecs, type CompleteSession, type Defect, type Defects } from '../defective.ts';

/** Returns the first spec for an id, which is what the store knows. */
function asFirstAsked(): (spec: EntrySpec) => EntrySpec {
  const first = new Map<string, EntrySpec>();
  return (spec) => {
    const known = first.get(spec.id) ?? spec;
    first.set(spec.id, known);
    return known;
  };
}

/** A backend that gives a stored entry to every caller with its id, although mode or permits of the caller differ. */
const believesTheCaller: Defect = () => changedSpecs(asFirstAsked());

/** A backend that gives a stored entry to every client that resumes the session, although mode or permits of the client differ. */
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

/** Defects of entries that a client enters again. */
export const sameEntryDefects: Defects = [
  [
    'accepts any spec for an existing entry',
    believesTheCaller,
    [
      'an entry keeps its mode and its permits: entering again with others is refused',
      'an id of an entry in another queue is refused, and adds no entry there',
    ],
  ],
  [
    'accepts any spec for an existing entry from a client that resumes',
    believesResumers,
    [
      'a resumed session has its entries as the store knows them',
      'a writer that has become a reader can be resumed only as a reader',
    ],
  ],
];
