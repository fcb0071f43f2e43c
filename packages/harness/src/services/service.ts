/**
 * What a test holds of a server: where it listens, which version it is, and (unless somebody else runs it) the
 * faults that can be done to it. Narrow on `way` before doing a fault: a given server has none.
 */

/** How the server came about. */
export type Way = 'endpoints' | 'process' | 'container';

interface Reachable {
  /** Every address as `host:port`; a container may get other ports when it restarts, so ask again after that. */
  readonly endpoints: readonly string[];
  /** The first of `endpoints`. */
  readonly endpoint: string;
  /** As the server itself says it, for instance `3.4.23`. */
  readonly version: string;
  /** Ends the server and removes its data. Does nothing the second time. A given server keeps running. */
  stop(): Promise<void>;
}

/** A server that the environment names: it is neither started, stopped nor disturbed by the tests. */
export interface GivenService extends Reachable {
  readonly way: 'endpoints';
}

interface Disturbable extends Reachable {
  /** Crashes the server (SIGKILL). Resolves when it is gone. */
  kill(): Promise<void>;
  /** Stops the server's clock of life (SIGSTOP): connections stay open and nothing answers. Resolves when it stands still. */
  freeze(): Promise<void>;
  /** Undoes `freeze`. */
  thaw(): Promise<void>;
  /** Ends the server if it still runs and starts it again on the same data. Resolves when it answers. */
  restart(): Promise<void>;
}

/** A child process of the tests. It keeps its port over a restart, and it never outlives the process that started it. */
export interface ProcessService extends Disturbable {
  readonly way: 'process';
  /** The present process; another one after a restart. */
  readonly pid: number;
  /** Its temporary directory: `data`, and `server.log` with everything that it printed. Gone after `stop`. */
  readonly directory: string;
}

/** A container of an engine that testcontainers finds. */
export interface ContainerService extends Disturbable {
  readonly way: 'container';
  readonly id: string;
}

export type Service = GivenService | ProcessService | ContainerService;

/** The service that a forced way gives. */
export interface ServiceOf {
  endpoints: GivenService;
  process: ProcessService;
  container: ContainerService;
}

/** A way to a server is not open on this machine; the message says what is missing. */
export class NotHere extends Error {
  override readonly name = 'NotHere';
}
