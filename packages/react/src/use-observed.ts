import type { BridgeClient, Connection, Observed } from '@queuelock/bridge/client';
import type { SnapshotOf } from '@queuelock/bridge/wire';
import type { Observable } from 'rxjs';
import { useMemo, useSyncExternalStore } from 'react';
import { useBridge } from './provider.ts';
import { listen, presentValue, type SharedSource } from './shared-streams.ts';

/** The methods of the bridge client that return streams of snapshots. */
type Kind = Exclude<keyof SnapshotOf, 'join'>;

// The result of all hooks before the first event. It is one object, so that the first rendering in the
// browser equals the rendering on the server.
const NOTHING_YET: Connection & { readonly snapshot: undefined } = {
  connection: 'connecting',
  since: performance.timeOrigin,
  snapshot: undefined,
};

/** Returns the present value of one of the client's streams of snapshots. */
export function useObserved<K extends Kind>(kind: K, subject: string): Observed<SnapshotOf[K]> {
  const client = useBridge();
  return useShared<Observed<SnapshotOf[K]>>(
    useMemo(
      () => ({
        owner: client,
        key: `${kind} ${subject}`,
        initial: NOTHING_YET,
        open: () => streamOf(client, kind, subject),
      }),
      [client, kind, subject],
    ),
  );
}

/**
 * Returns the state of the connection between the page and its bridge. The hook observes nothing itself: it returns `connecting` while no other hook
 * of the page observes anything.
 */
export function useConnection(): Connection {
  const client = useBridge();
  return useShared<Connection>(
    useMemo(
      () => ({ owner: client, key: '', initial: NOTHING_YET, open: () => client.connection$ }),
      [client],
    ),
  );
}

function useShared<T>(source: SharedSource<T>): T {
  const [subscribe, present] = useMemo(
    () => [(listener: () => void) => listen(source, listener), () => presentValue(source)] as const,
    [source],
  );
  return useSyncExternalStore(subscribe, present, () => source.initial);
}

function streamOf<K extends Kind>(
  client: BridgeClient,
  kind: K,
  subject: string,
): Observable<Observed<SnapshotOf[K]>> {
  // Casts the stream, because TypeScript cannot express that each method of the client returns snapshots of
  // its own kind.
  return client[kind](subject) as Observable<unknown> as Observable<Observed<SnapshotOf[K]>>;
}
