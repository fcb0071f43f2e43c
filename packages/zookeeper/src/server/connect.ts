// Chapter server: which server is asked, and what does it tell by itself?
// Connecting (here), watches, how short a session may be (shortest-session), what it says to operators (server-word).

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { QueueLockError, type Clock } from '@queuelock/core/backend';
import { orAborted } from '../base/aborted.ts';
import type { SessionKey, ZkDriver } from '../driver/driver.ts';
import { AUTH_FAILED_STATE } from '../driver/errors.ts';
import { NativeDriver } from '../native/driver.ts';
import { requireAddon } from '../native/addon.ts';
import type { Host, Settings } from '../api/options.ts';
import type { Pace } from '../base/pace.ts';
import { firstValueFrom, merge } from '../base/rx.ts';
import { addressText, type Dial } from '../wire/dial.ts';
import { WireDriver } from '../wire/driver.ts';

/** What it takes to connect, besides the settings. */
export interface ConnectRequest {
  /** How the wire client has its sockets. Default: over the network. */
  readonly dial?: Dial | undefined;
  readonly ttlMs: number;
  /** To go on with a session that there is: then it is never ended here, also when nothing comes of it. */
  readonly session?: SessionKey | undefined;
  readonly clock: Clock;
  /** The same for whoever opens again and again. */
  readonly pace: Pace;
  readonly signal: AbortSignal;
}

/** Connects and makes or resumes a session. Rejects with `UNAVAILABLE`, `ACCESS_DENIED`, `SESSION_LOST` or the signal's reason. */
export async function connect(settings: Settings, request: ConnectRequest): Promise<ZkDriver> {
  const { signal } = request;
  const attempt = new AbortController();
  const onAbort = (): void => {
    attempt.abort(signal.reason);
  };
  let failure: Error | undefined;
  const onFailure = (last: Error | undefined): void => void (failure = last);
  const timer = setTimeout(() => attempt.abort(unreachable(settings, failure)), settings.connectTimeoutMs);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    const addresses = await orAborted(resolveAll(settings), attempt.signal);
    if (settings.tls) await orAborted(settings.tls.next(), attempt.signal);
    const { pauseMs } = request.pace;
    if (pauseMs > 0) await orAborted(pause(pauseMs, undefined, { ref: false }), attempt.signal);
    return await connectTo(addresses, settings, { ...request, signal: attempt.signal, onFailure });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/** With who hears how an attempt ended, as far as the driver can tell. */
type Attempts = ConnectRequest & { readonly onFailure: (failure: Error | undefined) => void };

async function connectTo(first: string[], settings: Settings, request: Attempts): Promise<ZkDriver> {
  const { dial, ttlMs, session, clock, pace, signal } = request;
  let addresses = first;
  const onFailure = (failure?: Error): void => {
    request.onFailure(failure);
    resolveAll(settings).then(
      (found) => (addresses = found),
      // The addresses that were good before are as good a guess.
      () => undefined,
    );
  };
  const driver = driverOf(settings, {
    dial,
    addresses: () => addresses,
    onFailure,
    auth: settings.auth,
    ttlMs,
    session,
    clock,
    pace,
  });
  try {
    const connected = firstValueFrom(merge(driver.connection$, driver.ended$), { defaultValue: undefined });
    await orAborted(connected, signal);
    return driver;
  } catch (error) {
    pace.failed({ again: true });
    void (session ? driver.abandon() : driver.close());
    throw driver.endedWith === AUTH_FAILED_STATE ? refused(settings) : error;
  }
}

function driverOf(
  { transport, tls }: Settings,
  { dial, ...options }: DriverOptions,
): NativeDriver | WireDriver {
  if (transport === 'wire') return new WireDriver({ ...options, dial, tls });
  requireAddon();
  return new NativeDriver(options);
}

type DriverOptions = ConstructorParameters<typeof NativeDriver>[0] & Pick<ConnectRequest, 'dial'>;

/** The C client would look names up while the event loop stands still, and give up for ever on the first failure. */
async function resolveAll(settings: Settings): Promise<string[]> {
  const found = await Promise.allSettled(settings.hosts.map((host) => addressesOf(host, settings)));
  const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const cause: unknown = found.find((answer) => answer.status === 'rejected')?.reason;
  const detail = cause instanceof Error ? `: ${cause.message}` : '';
  throw new QueueLockError('UNAVAILABLE', `no host of ${settings.endpoint} has an address${detail}`, {
    cause,
  });
}

/** With the name for the driver that can compare it with a certificate. */
async function addressesOf({ name, port }: Host, { transport }: Settings): Promise<string[]> {
  if (isIP(name)) return [addressText({ host: name, port })];
  const found = await lookup(name, { all: true });
  const named = transport === 'wire' ? { name } : {};
  return found.map(({ address }) => addressText({ host: address, port, ...named }));
}

function unreachable({ endpoint, connectTimeoutMs }: Settings, cause: Error | undefined): QueueLockError {
  const last = cause ? `; the last attempt ended with: ${cause.message}` : '';
  return new QueueLockError(
    'UNAVAILABLE',
    `no ZooKeeper server answered at ${endpoint} within ${connectTimeoutMs} ms (connectTimeoutMs)${last}`,
    { cause },
  );
}

function refused({ endpoint }: Settings): QueueLockError {
  return new QueueLockError('ACCESS_DENIED', `the ZooKeeper server at ${endpoint} refused the credentials`);
}
