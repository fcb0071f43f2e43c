// Folder "server": connects a session to a server, and watches nodes.
// connect.ts (this file) opens sessions. failure-text.ts describes failed attempts. watches.ts watches nodes. shortest-session.ts computes
// the minimum TTL. four-letter-words.ts reads what a server reports to operators.

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { QueueLockError, type Clock } from '@queuelock/core/backend';
import { orAborted } from '../base/aborted.ts';
import type { SessionKey, ZkDriver } from '../driver/driver.ts';
import { AUTH_FAILED_STATE } from '../driver/errors.ts';
import type { NativeDriver } from '../native/driver.ts';
import type { Host, Settings } from '../api/options.ts';
import { failureText } from './failure-text.ts';
import type { ConnectionPacer } from '../base/connection-pacer.ts';
import { firstValueFrom, merge } from '../base/rx.ts';
import { addressText, type Dial } from '../wire/dial.ts';
import { WireDriver } from '../wire/driver.ts';

/** A request for a session: how long it lives, and whether it resumes an existing one. */
export interface ConnectRequest {
  /** Opens the sockets of transport `wire`. Default: over the network. */
  readonly dial?: Dial | undefined;
  readonly ttlMs: number;
  /** The key of an existing session, to resume it. A failed attempt does not end that session. */
  readonly session?: SessionKey | undefined;
  readonly clock: Clock;
  /** Limits the pace of attempts. Pass the same instance for repeated attempts. */
  readonly pacer: ConnectionPacer;
  readonly signal: AbortSignal;
}

/** Connects and creates or resumes a session. Rejects with `UNAVAILABLE`, `ACCESS_DENIED`, `SESSION_LOST` or the signal's reason. */
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
    const { delayMs } = request.pacer;
    if (delayMs > 0) await orAborted(pause(delayMs, undefined, { ref: false }), attempt.signal);
    return await connectTo(addresses, settings, { ...request, signal: attempt.signal, onFailure });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

/**
 * A request for a session, with a listener for failed attempts. Error messages need it, because the native client does not report why an
 * attempt failed.
 */
type AttemptRequest = ConnectRequest & { readonly onFailure: (failure: Error | undefined) => void };

async function connectTo(first: string[], settings: Settings, request: AttemptRequest): Promise<ZkDriver> {
  const { dial, ttlMs, session, clock, pacer, signal } = request;
  let addresses = first;
  const onFailure = (failure?: Error): void => {
    request.onFailure(failure);
    resolveAll(settings).then(
      (found) => (addresses = found),
      // If the host names cannot be resolved this time, the previous addresses are used again.
      () => undefined,
    );
  };
  const create = await orAborted(driverFactory(settings), signal);
  const driver = create({
    dial,
    addresses: () => addresses,
    onFailure,
    auth: settings.auth,
    ttlMs,
    session,
    clock,
    pacer,
  });
  try {
    const connected = firstValueFrom(merge(driver.connection$, driver.ended$), { defaultValue: undefined });
    await orAborted(connected, signal);
    return driver;
  } catch (error) {
    pacer.recordFailure({ again: true });
    void (session ? driver.abandon() : driver.close());
    throw driver.endedWith === AUTH_FAILED_STATE ? refused(settings) : error;
  }
}

/**
 * Loads the function that creates drivers of a transport. The code of transport `native` is loaded lazily: programs that are
 * compiled to CommonJS cannot load its `import.meta`.
 */
async function driverFactory({
  transport,
  tls,
}: Settings): Promise<(options: DriverOptions) => NativeDriver | WireDriver> {
  if (transport === 'wire') return ({ dial, ...options }) => new WireDriver({ ...options, dial, tls });
  const [{ requireAddon }, { NativeDriver: Driver }] = await Promise.all([
    import('../native/addon.ts'),
    import('../native/driver.ts'),
  ]);
  requireAddon();
  return (options) => new Driver(options);
}

type DriverOptions = ConstructorParameters<typeof NativeDriver>[0] & Pick<ConnectRequest, 'dial'>;

/** Resolves all host names. The C client would do that synchronously, and give up for ever after the first failure. */
async function resolveAll(settings: Settings): Promise<string[]> {
  const found = await Promise.allSettled(settings.hosts.map((host) => addressesOf(host, settings)));
  const addresses = found.flatMap((reply) => (reply.status === 'fulfilled' ? reply.value : []));
  if (addresses.length > 0) return addresses;
  const cause: unknown = found.find((reply) => reply.status === 'rejected')?.reason;
  const detail = cause instanceof Error ? `: ${cause.message}` : '';
  throw new QueueLockError('UNAVAILABLE', `no host of ${settings.endpoint} has an address${detail}`, {
    cause,
  });
}

/**
 * Returns the addresses of a host. With transport `wire`, each address contains the host name, with which the certificate is compared.
 */
async function addressesOf({ name, port }: Host, { transport }: Settings): Promise<string[]> {
  if (isIP(name)) return [addressText({ host: name, port })];
  const found = await lookup(name, { all: true });
  const named = transport === 'wire' ? { name } : {};
  return found.map(({ address }) => addressText({ host: address, port, ...named }));
}

function unreachable({ endpoint, connectTimeoutMs }: Settings, cause: Error | undefined): QueueLockError {
  const last = cause ? `; the last attempt failed: ${failureText(cause)}` : '';
  return new QueueLockError(
    'UNAVAILABLE',
    `no ZooKeeper server responded at ${endpoint} within ${connectTimeoutMs} ms (connectTimeoutMs)${last}`,
    { cause },
  );
}

function refused({ endpoint }: Settings): QueueLockError {
  return new QueueLockError('ACCESS_DENIED', `the ZooKeeper server at ${endpoint} refused the credentials`);
}
