/**
 * The job of a program on another runtime: which store to test, and at which address. The program gets it as
 * JSON in the environment.
 */
export interface Job {
  /** Name of the store, which is also the name of the backend's package and function. */
  readonly store: string;
  /** Options of the backend's function. They are `undefined` for the memory backend, which has no server. */
  readonly options?: Readonly<Record<string, unknown>>;
  readonly ttlMs: number;
  readonly expiryGranularityMs: number;
  /**
   * URL of the operator, which runs in the process that started the program, and removes or lists entries.
   */
  readonly operator: string;
  /**
   * Address of the server, for a store whose client library sends heartbeats by itself (ZooKeeper). The
   * operator puts a proxy in front of it, and simulates a crash of a client by cutting the client's
   * connection.
   */
  readonly proxied?: string;
  /** Titles of the tests of the conformance suite to run. Default: all. */
  readonly only?: readonly string[];
}

/** The result of one test of the conformance suite. */
export interface Outcome {
  readonly title: string;
  /** The error message of the failed test; `undefined` for a test that passed. */
  readonly failure?: string;
}

/**
 * The error with which a backend rejects the runtime (such as Bun) before the first test, because the backend
 * cannot work there.
 */
export interface Refusal {
  readonly code: string;
  readonly retryable: boolean;
  readonly message: string;
}

/** A line that the program on another runtime prints. */
export type Line = { readonly outcome: Outcome } | { readonly refusal: Refusal };

/** A request of the program to the operator of the store. */
export type Order =
  | { readonly type: 'evict'; readonly key: string }
  | { readonly type: 'entries'; readonly queue: string }
  | { readonly type: 'proxy'; readonly order: 'start' | 'sever' | 'accept'; readonly endpoint: string };

export const JOB_VARIABLE = 'QUEUELOCK_RUNTIME_JOB';
