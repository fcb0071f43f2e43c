import type { MemoryServer } from '@queuelock/memory';
import type { Backend, Session } from '../../../src/backend.ts';
import type { Alteration } from '@queuelock/harness/alteration';
import type { Rule } from '../judge.ts';

/** A seeded defect of the core or of a backend, such as a programmer could introduce. */
export interface Defect {
  readonly what: string;
  /** Rules of judge.ts. The first rule that a history with the defect breaks must be one of them. */
  readonly killedBy: readonly Rule[];
  /** Changes of the core's source files that introduce the defect. */
  readonly alterations?: readonly Alteration[];
  /** Wraps a correct backend so that it has the defect. */
  readonly spoil?: Spoil;
}

export type Spoil = (backend: Backend, server: MemoryServer) => Backend;

/** Creates a defect that consists of changes of the core's source files. */
export function inCore(
  what: string,
  killedBy: Rule | readonly Rule[],
  ...alterations: readonly Alteration[]
): Defect {
  return { what, killedBy: [killedBy].flat(), alterations };
}

/** Creates a defect that replaces some methods of a backend's sessions. */
export function inSession(
  what: string,
  killedBy: Rule | readonly Rule[],
  change: (session: Session, server: MemoryServer) => Partial<Session>,
): Defect {
  const spoil: Spoil = (backend, server) => ({
    ...backend,
    open: async (ttlMs, signal) => {
      const session = await backend.open(ttlMs, signal);
      return { ...passedOn(session), ...change(session, server) };
    },
  });
  return { what, killedBy: [killedBy].flat(), spoil };
}

function passedOn(session: Session): Session {
  return {
    id: session.id,
    ttlMs: session.ttlMs,
    renew: (signal) => session.renew(signal),
    enqueue: (spec) => session.enqueue(spec),
    tryEnqueue: (spec) => session.tryEnqueue(spec),
    ...(session.traces ? { traces: session.traces } : {}),
    update: (queue, id, value) => session.update(queue, id, value),
    remove: (queue, id) => session.remove(queue, id),
    close: () => session.close(),
  };
}
