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

/** What is replaced, given the sound original. */
export interface Replaced {
  session?(sound: CompleteSession): Partial<Session>;
  /** Called once for each connection. */
  backend?(sound: CompleteBackend): Partial<CompleteBackend>;
}

/** Called once for each store, so that it may remember things across connections. */
export type Defect = (server: MemoryServer) => Replaced;

/** What is broken, how, and which facts must see it. */
export type Defects = readonly (readonly [what: string, defect: Defect, facts: readonly string[]])[];

export const ADMITTED: Turn = { admitted: true };

export function line(server: MemoryServer, queue: string): readonly MemoryEntry[] {
  return server.queues().get(queue) ?? [];
}

/** Sends a request a round of the event loop late, as a connection does that is not ordered. */
export function later<T>(send: () => Promise<T>): Promise<T> {
  return new Promise<void>((resolve) => setImmediate(resolve)).then(send);
}

/** What of a harness decides how long its facts take. */
type Pace = Pick<BackendHarness, 'ttlMs'> &
  Partial<Pick<BackendHarness, 'timeoutMs' | 'expiryGranularityMs'>>;

/** Checks a fact on memory with one thing broken. Waits are short, since most defects show as a wait in vain. */
export async function checkWith(defect: Defect, title: string, pace: Pace): Promise<void> {
  const fact = facts.find((candidate) => candidate.title === title);
  if (!fact) throw new Error(`no fact has the title ${title}`);
  const server = createMemoryServer();
  try {
    await fact.check(harnessOf(server, defect, pace));
  } finally {
    // Sessions that a defect has left over would keep the process alive.
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

/** With all optional members. */
export type CompleteBackend = Required<Backend>;
export type CompleteSession = Required<Omit<Session, 'doubts$' | 'hasEnded'>>;

/** The same connection with its members known to be there. */
export function complete(backend: Backend): CompleteBackend {
  return {
    ...backend,
    errors$: backend.errors$ ?? NEVER,
    resume: (resumption, signal) => has(backend.resume?.(resumption, signal)),
    evict: (queue, entry) => has(backend.evict?.(queue, entry)),
    registers: has(backend.registers),
    // Memory's orders are its tokens.
    tokenOf: async (_queue, { order }) => order,
    queues(prefix) {
      return has(backend.queues?.(prefix));
    },
    history: (queue, signal) => has(backend.history?.(queue, signal)),
    diagnose: (prefix) => has(backend.diagnose?.(prefix)),
  };
}

/** The same session as an object that can be spread. */
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

/** Every placement goes through `change`. */
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

/** Traces are kept by other means than the sound session's, which has them without this. */
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

/** Every wish goes through `change` on its way. */
export function wishes(change: (spec: EntrySpec) => EntrySpec): Replaced {
  return {
    session: (sound) => ({
      enqueue: (spec) => sound.enqueue(change(spec)),
      enqueueAll: (specs) => sound.enqueueAll(specs.map(change)),
      tryEnqueue: (spec) => sound.tryEnqueue(change(spec)),
    }),
  };
}

type Picture = readonly StoredEntry[];

/** Every picture of a queue, the first with number 0, goes through `change`; `undefined` is not shown. */
export function pictures(change: (picture: Picture, number: number) => Picture | undefined): Replaced {
  return {
    backend: (sound) =>
      ({
        observe(queue) {
          return sound.observe(queue).pipe(
            map(change),
            filter((picture) => picture !== undefined),
          );
        },
      }) satisfies Partial<Backend>,
  };
}

/** Registers are kept by other means than the sound connection's, which has them without this. */
export function registers(
  change: (sound: Registers, backend: CompleteBackend) => Partial<Registers>,
): Replaced {
  return {
    backend: (sound) => ({ registers: { ...sound.registers, ...change(sound.registers, sound) } }),
  };
}

/** Queues are stored under other names. */
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
