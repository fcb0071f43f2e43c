import type {
  Backend,
  EntrySpec,
  HoldTraces,
  Placement,
  Registers,
  StoredEntry,
  Session,
  Turn,
} from '@queuelock/core/backend';
import { facts, type BackendHarness } from '@queuelock/conformance';
import { createMemoryServer, memory, type MemoryEntry, type MemoryServer } from '@queuelock/memory';
import { NEVER, filter, map } from 'rxjs';

/** The methods and properties of a correct backend and its sessions that a defect replaces. */
export interface Replaced {
  session?(sound: CompleteSession): Partial<Session>;
  /** Returns the members of the backend to replace. Called once for each connection. */
  backend?(sound: CompleteBackend): Partial<CompleteBackend>;
}

/**
 * A seeded defect of a backend: a function that returns the changed members. It is called once for each
 * store, so it may keep state across connections.
 */
export type Defect = (server: MemoryServer) => Replaced;

/**
 * A list of defects, each with its description, its implementation, and the titles of the facts that must
 * detect it.
 */
export type Defects = readonly (readonly [what: string, defect: Defect, facts: readonly string[]])[];

export const ADMITTED: Turn = { admitted: true };

export function line(server: MemoryServer, queue: string): readonly MemoryEntry[] {
  return server.queues().get(queue) ?? [];
}

/** Sends a request one turn of the event loop later, so that the client's next requests may overtake it. */
export function later<T>(send: () => Promise<T>): Promise<T> {
  return new Promise<void>((resolve) => setImmediate(resolve)).then(send);
}

/** Settings of a harness that determine how long the check of a fact takes. */
type Pace = Pick<BackendHarness, 'ttlMs'> &
  Partial<Pick<BackendHarness, 'timeoutMs' | 'expiryGranularityMs'>>;

/**
 * Checks one fact on a memory backend with one defect. Waits are short, because most defects show as a
 * timeout.
 */
export async function checkWith(defect: Defect, title: string, pace: Pace): Promise<void> {
  const fact = facts.find((candidate) => candidate.title === title);
  if (!fact) throw new Error(`no fact has the title ${title}`);
  const server = createMemoryServer();
  try {
    await fact.check(harnessOf(server, defect, pace));
  } finally {
    // Closes the server, because a defect may leave sessions open, which would keep the process alive.
    server.close();
  }
}

function harnessOf(server: MemoryServer, defect: Defect, pace: Pace): BackendHarness {
  const replaced = defect(server);
  return {
    name: 'memory with a defect',
    expiryGranularityMs: 80,
    rounds: 2,
    ...pace,
    evict: async (key) => void server.evict(key),
    traces: true,
    together: true,
    sharing: true,
    eviction: true,
    registers: true,
    resumption: true,
    queues: true,
    entries: async (queue) => server.queues().get(queue) ?? [],
    connect: async () => brokenBackend(memory({ server }), replaced),
  };
}

function brokenBackend(original: Backend, replaced: Replaced): Backend {
  const sound = complete(original);
  const changed = { ...sound, ...replaced.backend?.(sound) };
  const broken = (opened: CompleteSession): Session => ({ ...opened, ...replaced.session?.(opened) });
  return {
    ...changed,
    open: async (ttlMs, signal) => broken(plain(await changed.open(ttlMs, signal))),
    resume: async (resumption, signal) => broken(plain(await changed.resume(resumption, signal))),
  };
}

/** A backend that has all optional members of the interface. */
export type CompleteBackend = Required<Omit<Backend, 'renewers'>>;
export type CompleteSession = Required<Omit<Session, 'doubts$' | 'hasEnded'>>;

/**
 * Returns the memory backend as an object that has all optional members, so that a defect can replace any of
 * them.
 */
export function complete(backend: Backend): CompleteBackend {
  return {
    ...backend,
    errors$: backend.errors$ ?? NEVER,
    resume: (resumption, signal) => has(backend.resume?.(resumption, signal)),
    evict: (queue, entry) => has(backend.evict?.(queue, entry)),
    registers: has(backend.registers),
    // On the memory backend, the fencing token of an entry is its order number.
    tokenOf: async (_queue, { order }) => order,
    queues(prefix) {
      return has(backend.queues?.(prefix));
    },
    history: (queue, signal) => has(backend.history?.(queue, signal)),
    diagnose: (prefix) => has(backend.diagnose?.(prefix)),
  };
}

/** Copies a session to a plain object, so that a defect can spread it and replace members. */
export function plain(session: Session): CompleteSession {
  const { id, ttlMs } = session;
  return {
    id,
    ttlMs,
    traces: has(session.traces),
    resumption: has(session.resumption),
    renew: (signal) => session.renew(signal),
    enqueue: (spec) => session.enqueue(spec),
    enqueueAll: (specs) => has(session.enqueueAll?.(specs)),
    tryEnqueue: (spec) => session.tryEnqueue(spec),
    update: (queue, entryId, value) => session.update(queue, entryId, value),
    share: (queue, entryId, value) => has(session.share?.(queue, entryId, value)),
    exposeKey: (queue, entryId) => session.exposeKey?.(queue, entryId) ?? true,
    remove: (queue, entryId) => session.remove(queue, entryId),
    removeUnclaimed: () => has(session.removeUnclaimed?.()),
    abandon: () => has(session.abandon?.()),
    close: () => session.close(),
  };
}

function has<T>(member: T | undefined): T {
  if (member === undefined) throw new Error('memory has them all');
  return member;
}

/** Makes a defect that changes every result of `enqueue` and `tryEnqueue`. */
export function placements(
  change: (placement: Placement, spec: EntrySpec, sound: CompleteSession) => Placement,
): Replaced {
  return {
    session: (sound) => ({
      enqueue: async (spec) => change(await sound.enqueue(spec), spec, sound),
      tryEnqueue: async (spec) => {
        const placement = await sound.tryEnqueue(spec);
        return placement && change(placement, spec, sound);
      },
    }),
  };
}

/** Makes a defect that changes how traces of holds are stored. */
export function traces(change: (sound: HoldTraces, session: Session) => Partial<HoldTraces>): Replaced {
  return {
    session: (session) => {
      const { traces: sound } = session;
      const original: HoldTraces = {
        leave: (queue, id) => sound.leave(queue, id),
        erase: (queue, found) => sound.erase(queue, found),
      };
      return { traces: { ...original, ...change(original, session) } };
    },
  };
}

/** Makes a defect that changes the spec of every entry. */
export function changedSpecs(change: (spec: EntrySpec) => EntrySpec): Replaced {
  return {
    session: (sound) => ({
      enqueue: (spec) => sound.enqueue(change(spec)),
      enqueueAll: (specs) => sound.enqueueAll(specs.map(change)),
      tryEnqueue: (spec) => sound.tryEnqueue(change(spec)),
    }),
  };
}

type Snapshot = readonly StoredEntry[];

/**
 * Makes a defect that changes every snapshot of a queue. `change` receives the snapshot and its zero-based
 * number, and returns `undefined` to suppress the snapshot.
 */
export function snapshots(change: (snapshot: Snapshot, number: number) => Snapshot | undefined): Replaced {
  return {
    backend: (sound) =>
      ({
        observe(queue) {
          return sound.observe(queue).pipe(
            map(change),
            filter((snapshot) => snapshot !== undefined),
          );
        },
      }) satisfies Partial<Backend>,
  };
}

/** Makes a defect that changes how registers are stored. */
export function registers(
  change: (sound: Registers, backend: CompleteBackend) => Partial<Registers>,
): Replaced {
  return {
    backend: (sound) => ({ registers: { ...sound.registers, ...change(sound.registers, sound) } }),
  };
}

/** Makes a defect that stores queues under other names. */
export function names(encode: (queue: string) => string): Replaced {
  return {
    backend: (sound) =>
      ({
        observe(queue) {
          return sound.observe(encode(queue));
        },
      }) satisfies Partial<Backend>,
    session: (sound) => ({
      enqueue: (spec) => sound.enqueue({ ...spec, queue: encode(spec.queue) }),
      tryEnqueue: (spec) => sound.tryEnqueue({ ...spec, queue: encode(spec.queue) }),
      update: (queue, id, value) => sound.update(encode(queue), id, value),
      remove: (queue, id) => sound.remove(encode(queue), id),
    }),
  };
}
