import type { Clock, FreshCredentials } from '@queuelock/core/backend';
import type { SessionKey } from '../driver/driver.ts';
import type { Pace } from '../base/pace.ts';
import type { Dial } from './dial.ts';
import type { WatchEvent } from './events.ts';
import type { Tls } from '../api/tls.ts';

/** What a line needs to connect. */
export interface LineOptions {
  /** As `addressText` writes them, at least one; asked for at each attempt. */
  readonly addresses: () => readonly string[];
  /** Default: over the network. */
  readonly dial?: Dial | undefined;
  /** Read again for each attempt but the first, for which they are at hand. */
  readonly tls?: FreshCredentials<Tls> | undefined;
  /** An attempt failed, and so it ended. */
  readonly onFailure: (failure: Error) => void;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
  readonly ttlMs: number;
  /** To go on with a session that there is. */
  readonly session?: SessionKey | undefined;
  /** Says when to try again; the first attempt is made at once. */
  readonly pace: Pace;
  readonly clock: Clock;
  readonly onChange: (event: WatchEvent) => void;
}
