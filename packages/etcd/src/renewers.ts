import {
  invalidArgument,
  type QueueLockError,
  type RenewerSource,
  type RenewerSupport,
} from '@queuelock/core/backend';
import type { EtcdOptions } from './api/options.ts';
import type { Lease } from './session/lease.ts';
import type { EtcdSession } from './session/session.ts';

/** The data that the heartbeat thread needs for the heartbeats of a session. */
export interface RenewerData {
  readonly options: EtcdOptions;
  readonly lease: Lease;
  /**
   * Identifies the process that has the session. If another process resumes the session, the thread notices that the
   * owner has changed.
   */
  readonly owner: string;
}

/** Returns what the core needs in order to send heartbeats from a thread. The thread connects with the same options. */
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

/**
 * Returns the options that concern the connection. The others concern entries, which the heartbeat thread does not need.
 */
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

/**
 * Returns the URL of the thread's module. It is beside this file and has the same file extension, in the built package
 * and in the sources.
 */
function renewerModule(): string {
  const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
  return new URL(`./open-renewer.${ending}`, import.meta.url).href;
}
