import {
  invalidArgument,
  type QueueLockError,
  type RenewerSource,
  type RenewerSupport,
} from '@queuelock/core/backend';
import type { EtcdOptions } from './api/options.ts';
import type { Lease } from './session/lease.ts';
import type { EtcdSession } from './session/session.ts';

/** What a thread needs to send the heartbeats of a session. */
export interface RenewerData {
  readonly options: EtcdOptions;
  readonly lease: Lease;
  /** Identifies the process that has the session, so that the thread notices when another process resumes it. */
  readonly owner: string;
}

/** Returns the support for heartbeats from a thread, over a connection with the same options. */
export function renewersOf(given: EtcdOptions, owner: string): RenewerSupport {
  const options = { ...given };
  return {
    check: () => {
      checkSendable(options);
    },
    sourceFor: (session): RenewerSource => {
      const { lease } = session as EtcdSession;
      const data: RenewerData = { options: sendable(options), lease, owner };
      return { module: renewerModule(), data };
    },
  };
}

function checkSendable(options: EtcdOptions): void {
  if (options.client !== undefined) throw unsendable('client', 'a client from the caller');
  for (const name of ['auth', 'credentials'] as const)
    if (typeof options[name] === 'function') throw unsendable(name, 'a function');
  try {
    structuredClone(sendable(options));
  } catch (error) {
    throw unsendable('grpcOptions', String(error));
  }
}

function unsendable(option: string, what: string): QueueLockError {
  return invalidArgument(
    `${option} beside maxBlockedMs`,
    what,
    'is left out, or a value that a thread can be passed',
  );
}

/** The options that concern the connection. All other options concern entries, which heartbeats do not need. */
function sendable({
  hosts,
  prefix,
  auth,
  credentials,
  requestTimeoutMs,
  heartbeatProof,
  transport,
  grpcOptions,
}: EtcdOptions): EtcdOptions {
  const options = {
    hosts,
    prefix,
    auth,
    credentials,
    requestTimeoutMs,
    heartbeatProof,
    transport,
    grpcOptions,
  };
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined),
  ) as EtcdOptions;
}

/** The module of the thread is beside this file and has the same file ending, in the built package and in the sources. */
function renewerModule(): string {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./open-renewer.${ending}`, import.meta.url).href;
}
