import type { Observed } from '@queuelock/bridge/client';
import type { Snapshot } from '@queuelock/bridge/wire';
import { useConnection } from '@queuelock/react';
import type { ReactElement, ReactNode } from 'react';
import { useNow } from '../hooks/now.ts';
import { freshnessOf } from '../model/freshness.ts';
import { plain } from '../model/text.ts';

/** What a part of a page that comes of a snapshot takes. */
export interface FreshProps {
  readonly seen: Observed<Snapshot>;
  /** Show the rest also before something is known. */
  readonly isAlways?: boolean;
  readonly children: ReactNode;
}

/** What comes of a snapshot: plainly said to be old where it is, and then shown as such. */
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
        {/* Without the seconds, which would be read out one by one. */}
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

/** The snapshot, if it tells anything yet. */
export function knownOf<P extends Snapshot>({ snapshot }: Observed<P>): P | undefined {
  return snapshot?.status === 'connecting' ? undefined : snapshot;
}

/** Whether ages are to grow: what is shown is as it is now. */
export function isLive({ connection, snapshot }: Observed<Snapshot>): boolean {
  return connection === 'live' && snapshot?.status === 'live';
}

const WORDS = { live: 'live', connecting: 'connecting', stale: 'no answer' } as const;

/** The connection of the page, always in sight. */
export function ConnectionPill(): ReactElement {
  const { connection } = useConnection();
  return (
    <span className="pill" data-tone={connection}>
      <span className="dot" aria-hidden="true" />
      {WORDS[connection]}
    </span>
  );
}
