import type { Observed } from '@queuelock/bridge/client';
import type { Snapshot } from '@queuelock/bridge/wire';
import { useConnection } from '@queuelock/react';
import type { ReactElement, ReactNode } from 'react';
import { useNow } from '../hooks/now.ts';
import { freshnessOf } from '../model/freshness.ts';
import { plain } from '../model/text.ts';

/** Props of a section that shows a snapshot. */
export interface FreshProps {
  readonly seen: Observed<Snapshot>;
  /** Render the children also before the first snapshot. */
  readonly isAlways?: boolean;
  readonly children: ReactNode;
}

/** Shows data of a snapshot. Outdated data is marked as such, with a notice. */
export function Fresh({ seen, isAlways = false, children }: FreshProps): ReactElement {
  const { tone, words } = freshnessOf(seen, useNow(1_000));
  return (
    <>
      {words !== undefined && (
        <p className="notice" data-tone={tone}>
          {plain(words)}
        </p>
      )}
      <p className="unseen" role="status">
        {/* The announcement leaves out the seconds, which would be read aloud one by one. */}
        {tone === 'stale' && 'What is shown is old; reconnecting.'}
      </p>
      {(isAlways || knownOf(seen)) && (
        <div className="stack" data-tone={tone}>
          {children}
        </div>
      )}
    </>
  );
}

/** Returns the snapshot once it contains data. */
export function knownOf<P extends Snapshot>({ snapshot }: Observed<P>): P | undefined {
  return snapshot?.status === 'connecting' ? undefined : snapshot;
}

/** Returns whether the shown data is current, so that ages may grow. */
export function isLive({ connection, snapshot }: Observed<Snapshot>): boolean {
  return connection === 'live' && snapshot?.status === 'live';
}

const WORDS = { live: 'live', connecting: 'connecting', stale: 'no answer' } as const;

/** Shows the state of the page's connection, always visible. */
export function ConnectionPill(): ReactElement {
  const { connection } = useConnection();
  return (
    <span className="pill" data-tone={connection}>
      <span className="dot" aria-hidden="true" />
      {WORDS[connection]}
    </span>
  );
}
