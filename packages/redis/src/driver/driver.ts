// Chapter driver: what is asked of Redis, and what may it answer?
// The interface of both clients (here), what failures mean (errors), and clients that are handed in: checked (check-client), proven
// (proven-driver), of npm redis or ioredis.

/** Where a server listens. */
export interface Address {
  readonly host: string;
  readonly port: number;
}

/** What a connection tells. */
export interface WireEvents {
  /** Something was published on a channel that it listens to. */
  readonly onMessage: (channel: string, message: string) => void;
  /** Once: it is over. */
  readonly onEnd: (error: unknown) => void;
  /** Nobody waits for it any more while it opens. */
  readonly signal: AbortSignal;
}

/** One connection to a server. It is never made anew: whoever holds it opens another one. */
export interface Wire {
  /** Commands go out, and are answered, in the order of the calls. */
  send(args: readonly string[]): Promise<unknown>;
  /** Resolves when everything published from then on is told. The connection takes no other commands after that. */
  subscribe(channel: string): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  /** At once; what has no answer yet rejects. `onEnd` may be called. */
  close(): void;
}

/** Opens connections with one client library. */
export interface Driver {
  /** Without any secret. */
  readonly endpoint: string;
  /** Tries once. `at`: another server of the same cluster, reached in the same way. */
  open(events: WireEvents, at?: Partial<Address>): Promise<Wire>;
}
