import type { Backend, EntrySpec, HoldTraces, Placement, SeenEntry, Session } from '@queuelock/core/backend';
import type { BackendHarness } from '@queuelock/conformance';
import { createMemoryServer, memory, type MemoryServer } from '@queuelock/memory';
import { filter, map } from 'rxjs';

/** What is replaced, given the sound original. */
export interface Replaced {
  session?(sound: Session): Partial<Session>;
  /** Called once for each connection. */
  backend?(sound: Backend): Partial<Backend>;
}

/** Called once for each store, so that it may remember things across connections. */
export type Defect = (server: MemoryServer) => Replaced;

/** A harness for memory with one thing broken. Waits are short, since most defects show as a wait in vain. */
export function harnessWith(defect: Defect, patienceMs: number): BackendHarness {
  const server = createMemoryServer();
  const replaced = defect(server);
  return {
    name: 'memory with a defect',
    ttlMs: 80,
    expiryGranularityMs: 80,
    patienceMs,
    rounds: 2,
    evict: async (key) => void server.evict(key),
    traces: true,
    entries: async (queue) => server.queues().get(queue) ?? [],
    connect: async () => brokenBackend(memory({ server }), replaced),
  };
}

function brokenBackend(sound: Backend, replaced: Replaced): Backend {
  const changed = { ...sound, ...replaced.backend?.(sound) };
  const open = async (ttlMs: number, signal: AbortSignal): Promise<Session> => {
    const opened = plain(await changed.open(ttlMs, signal));
    return { ...opened, ...replaced.session?.(opened) };
  };
  return { ...changed, open };
}

/** The same session as an object that can be spread. */
export function plain(session: Session): Session {
  const { id, ttlMs } = session;
  return {
    id,
    ttlMs,
    renew: (signal) => session.renew(signal),
    enqueue: (spec) => session.enqueue(spec),
    tryEnqueue: (spec) => session.tryEnqueue(spec),
    ...(session.traces ? { traces: session.traces } : {}),
    update: (queue, entryId, value) => session.update(queue, entryId, value),
    remove: (queue, entryId) => session.remove(queue, entryId),
    close: () => session.close(),
  };
}

/** Every placement goes through `change`. */
export function placements(
  change: (placement: Placement, spec: EntrySpec, sound: Session) => Placement,
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
      if (!sound) throw new Error('memory keeps traces');
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
      tryEnqueue: (spec) => sound.tryEnqueue(change(spec)),
    }),
  };
}

type Picture = readonly SeenEntry[];

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
