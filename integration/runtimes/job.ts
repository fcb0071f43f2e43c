/** What a program on another runtime has to check, and where. Sent as JSON in its environment. */
export interface Job {
  /** The backend's package and its function have this name. */
  readonly store: string;
  /** Options of that function; `undefined` for the memory backend, which has no server. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly ttlMs: number;
  readonly expiryGranularityMs: number;
  /** URL at which the process that started the program acts as an operator. */
  readonly operator: string;
  /** Address of the server whose connections are cut to simulate a crash; only for clients that send heartbeats by themselves. */
  readonly proxied?: string;
  /** Facts with other titles are left out. Default: none. */
  readonly only?: readonly string[];
}

/** How one fact came out. */
export interface Outcome {
  readonly title: string;
  /** The error; `undefined` for a fact that is true. */
  readonly failure?: string;
}

/** An error with which a backend refuses the runtime before the first fact. */
export interface Refusal {
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
}

/** A line of the program's output. */
export type Line = { readonly outcome: Outcome } | { readonly refusal: Refusal };

/** A request to the operator. */
export type Order =
  | { readonly type: 'evict'; readonly key: string }
  | { readonly type: 'entries'; readonly queue: string }
  | { readonly type: 'proxy'; readonly order: 'start' | 'sever' | 'accept'; readonly endpoint: string };

export const JOB_VARIABLE = 'QUEUELOCK_RUNTIME_JOB';
