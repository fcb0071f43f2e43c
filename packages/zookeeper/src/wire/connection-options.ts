import type { Clock, FreshCredentials } from '@queuelock/core/backend';
import type { SessionKey } from '../driver/driver.ts';
import type { ConnectionPacer } from '../base/connection-pacer.ts';
import type { Dial } from './dial.ts';
import type { WatchEvent } from './events.ts';
import type { Tls } from '../api/tls.ts';

/** Options of the connections of a session. */
export interface WireConnectionOptions {
  /** Returns at least one address as `addressText` formats them. Called for each attempt. */
  readonly addresses: () => readonly string[];
  /** Opens the sockets. Default: over the network. */
  readonly dial?: Dial | undefined;
  /** The settings of TLS. They are read again for each attempt except the first. */
  readonly tls?: FreshCredentials<Tls> | undefined;
  /** Called with the reason when an attempt to connect has failed. */
  readonly onFailure: (failure: Error) => void;
  readonly auth: { readonly username: string; readonly password: string } | undefined;
  readonly ttlMs: number;
  /** The key of an existing session, to resume it. */
  readonly session?: SessionKey | undefined;
  /** Decides when to connect again after a failure. The first attempt is made at once. */
  readonly pacer: ConnectionPacer;
  readonly clock: Clock;
  readonly onChange: (event: WatchEvent) => void;
}
