import type { BridgeClient, Connection, Observed } from '@queuelock/bridge/client';
import type { SnapshotOf } from '@queuelock/bridge/wire';
import type { Observable } from 'rxjs';
import { useMemo, useSyncExternalStore } from 'react';
import { useBridge } from './provider.ts';
import { listen, presentValue, type SharedSource } from './shared-streams.ts';

/** Streams of snapshots, by the names of the client's methods. */
type Kind = Exclude<keyof SnapshotOf, 'join'>;

// One object for all, so that a page which was rendered on a server is the same at first in the browser.
const NOTHING_YET: Connection & { readonly snapshot: undefined } = {
  connection: 'connecting',
  since: performance.timeOrigin,
  snapshot: undefined,
};

/** The present value of one of the client's streams of snapshots. */
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

/** The connection of the page with its bridge. Looks at nothing itself: `connecting` while nothing else on the page is looked at. */
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
  // Each method answers the snapshots that are named as it is, which a type cannot say of a choice of methods.
  return client[kind](subject) as Observable<unknown> as Observable<Observed<SnapshotOf[K]>>;
}
