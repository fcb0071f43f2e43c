/**
 * A server that tests use: its address, its version, and the faults that tests can apply to it. An external
 * server has no faults, so check `way` before you apply one.
 */

/** How the server runs: an external one (`endpoints`), a child process, or a container. */
export type Way = 'endpoints' | 'process' | 'container';

interface Reachable {
  /** Addresses as `host:port`; a container may get other ports when it restarts, so read them again after that. */
  readonly endpoints: readonly string[];
  /** The server's first address, as `host:port`. */
  readonly endpoint: string;
  /** Version as the server reports it, for instance `3.4.23`. */
  readonly version: string;
  /** Ends the server and removes its data. Later calls do nothing. An external server keeps running. */
  stop(): Promise<void>;
}

/** An external server, named by an environment variable. Tests never start, stop or disturb it. */
export interface ExternalService extends Reachable {
  readonly way: 'endpoints';
}

interface Disturbable extends Reachable {
  /** Crashes the server (SIGKILL). Resolves when it has ended. */
  kill(): Promise<void>;
  /** Freezes the server (SIGSTOP): connections stay open and get no response. Resolves when it is stopped. */
  freeze(): Promise<void>;
  /** Resumes the frozen server (SIGCONT). */
  thaw(): Promise<void>;
  /** Ends the server if it still runs and starts it again on the same data. Resolves when it responds. */
  restart(): Promise<void>;
}

/** A child process of the tests. It keeps its port over a restart, and never outlives the process that started it. */
export interface ProcessService extends Disturbable {
  readonly way: 'process';
  /** Process id of the server; another one after a restart. */
  readonly pid: number;
  /** Temporary directory of the server: `data`, and `server.log` with its output. Removed by `stop`. */
  readonly directory: string;
}

/** A server in a container, which the npm package testcontainers runs. */
export interface ContainerService extends Disturbable {
  readonly way: 'container';
  readonly id: string;
}

export type Service = ExternalService | ProcessService | ContainerService;

/** For each way in which a server can run, the type of such a server. */
export interface ServiceOf {
  endpoints: ExternalService;
  process: ProcessService;
  container: ContainerService;
}

/** The error for a way to get a server that is not available on this machine. The message names what is missing. */
export class NotHere extends Error {
  override readonly name = 'NotHere';
}
