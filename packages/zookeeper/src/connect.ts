import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { QueueLockError, type Clock } from '@queuelock/core/backend';
import { orAborted } from './aborted.ts';
import type { SessionKey, ZkDriver } from './driver.ts';
import { AUTH_FAILED_STATE } from './errors.ts';
import { NativeDriver } from './native-driver.ts';
import { requireAddon } from './native.ts';
import type { Host, Settings } from './options.ts';
import { firstValueFrom, merge } from './rx.ts';

/** What it takes to connect, besides the settings. */
export interface ConnectRequest {
  readonly ttlMs: number;
  /** To go on with a session that there is: then it is never ended here, also when nothing comes of it. */
  readonly session?: SessionKey | undefined;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Connects and makes or resumes a session. Rejects with `UNAVAILABLE`, `ACCESS_DENIED`, `SESSION_LOST` or the signal's reason. */
export async function connect(settings: Settings, request: ConnectRequest): Promise<ZkDriver> {
  const { signal } = request;
  const attempt = new AbortController();
  const onAbort = (): void => {
    attempt.abort(signal.reason);
  };
  const timer = setTimeout(() => attempt.abort(unreachable(settings)), settings.connectTimeoutMs);
  signal.addEventListener('abort', onAbort);
  try {
    signal.throwIfAborted();
    const addresses = await orAborted(resolveAll(settings), attempt.signal);
    return await connectTo(addresses, settings, { ...request, signal: attempt.signal });
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', onAbort);
  }
}

async function connectTo(first: string[], settings: Settings, request: ConnectRequest): Promise<ZkDriver> {
  const { ttlMs, session, clock, signal } = request;
  let addresses = first;
  const onFailure = (): void => {
    resolveAll(settings).then(
      (found) => (addresses = found),
      // The addresses that were good before are as good a guess.
      () => undefined,
    );
  };
  requireAddon();
  const driver = new NativeDriver({
    addresses: () => addresses,
    onFailure,
    auth: settings.auth,
    ttlMs,
    session,
    clock,
  });
  try {
    const connected = firstValueFrom(merge(driver.connection$, driver.ended$), { defaultValue: undefined });
    await orAborted(connected, signal);
    return driver;
  } catch (error) {
    void (session ? driver.abandon() : driver.close());
    throw driver.endedWith === AUTH_FAILED_STATE ? refused(settings) : error;
  }
}

/** The C client would look names up while the event loop stands still, and give up for ever on the first failure. */
async function resolveAll(settings: Settings): Promise<string[]> {
  const found = await Promise.allSettled(settings.hosts.map(addressesOf));
  const addresses = found.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  if (addresses.length > 0) return addresses;
  const cause: unknown = found.find((answer) => answer.status === 'rejected')?.reason;
  const detail = cause instanceof Error ? `: ${cause.message}` : '';
  throw new QueueLockError('UNAVAILABLE', `no host of ${settings.endpoint} has an address${detail}`, {
    cause,
  });
}

async function addressesOf({ name, port }: Host): Promise<string[]> {
  if (isIP(name)) return [`${name}:${port}`];
  const found = await lookup(name, { all: true });
  return found.map(({ address }) => `${address}:${port}`);
}

function unreachable({ endpoint, connectTimeoutMs }: Settings): QueueLockError {
  return new QueueLockError(
    'UNAVAILABLE',
    `no ZooKeeper server answered at ${endpoint} within ${connectTimeoutMs} ms (connectTimeoutMs)`,
  );
}

function refused({ endpoint }: Settings): QueueLockError {
  return new QueueLockError('ACCESS_DENIED', `the ZooKeeper server at ${endpoint} refused the credentials`);
}
