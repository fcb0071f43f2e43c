import type { Observed } from '@queuelock/bridge/client';
import type { Snapshot } from '@queuelock/bridge/wire';
import { useConnection } from '@queuelock/react';
import type { ReactElement, ReactNode } from 'react';
import { useNow } from '../hooks/now.ts';
import { freshnessOf } from '../model/freshness.ts';
import { plain } from '../model/text.ts';

/** Props of a section of the page that shows data from a snapshot. */
export interface FreshProps {
  readonly observed: Observed<Snapshot>;
  /** Whether the content of the section is rendered even before the first snapshot. */
  readonly isAlwaysShown?: boolean;
  readonly children: ReactNode;
}

/** A section of the page that shows data from a snapshot. Outdated data is marked as such, with a notice. */
export function Fresh({ observed, isAlwaysShown = false, children }: FreshProps): ReactElement {
  const { tone, text } = freshnessOf(observed, useNow(1_000));
  return (
    <>
      {text !== undefined && (
        <p className="notice" data-tone={tone}>
          {plain(text)}
        </p>
      )}
      <p className="unseen" role="status">
        {/* The announcement leaves out the seconds, which would be read aloud one by one. */}
        {tone === 'stale' && 'The shown data is outdated; reconnecting.'}
      </p>
      {(isAlwaysShown || loadedSnapshot(observed)) && (
        <div className="stack" data-tone={tone}>
          {children}
        </div>
      )}
    </>
  );
}

/** Returns the snapshot that a section shows, or `undefined` until a snapshot with data has arrived. */
export function loadedSnapshot<P extends Snapshot>({ snapshot }: Observed<P>): P | undefined {
  return snapshot?.status === 'connecting' ? undefined : snapshot;
}

/** Returns whether the shown data is current. Only then may ages on the page grow. */
export function isLive({ connection, snapshot }: Observed<Snapshot>): boolean {
  return connection === 'live' && snapshot?.status === 'live';
}

const CONNECTION_TEXTS = { live: 'live', connecting: 'connecting', stale: 'no response' } as const;

/** Shows the state of the page's connection. It is always visible. */
export function ConnectionPill(): ReactElement {
  const { connection } = useConnection();
  return (
    <span className="pill" data-tone={connection}>
      <span className="dot" aria-hidden="true" />
      {CONNECTION_TEXTS[connection]}
    </span>
  );
}
