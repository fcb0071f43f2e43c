import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { QueueLockError, type Clock } from '@queuelock/core/backend';
import { orAborted } from './aborted.ts';
import type { ZkDriver } from './driver.ts';
import { AUTH_FAILED_STATE } from './errors.ts';
import { NativeDriver } from './native-driver.ts';
import { newNativeClient, type NativeClient } from './native.ts';
import type { Host, Settings } from './options.ts';
import { firstValueFrom, merge } from './rx.ts';

// After the last host of its list the C client waits a third of the session timeout before it tries the first again.
const ROUNDS_WITHOUT_PAUSE = 4;

/** What one attempt needs to know besides the settings. */
export interface ConnectRequest {
  readonly ttlMs: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** Connects and makes a session: one attempt. Rejects with `UNAVAILABLE`, `ACCESS_DENIED` or the signal's reason. */
export async function connect(settings: Settings, request: ConnectRequest): Promise<ZkDriver> {
  const { signal } = request;
  const attempt = new AbortController();
  const onAbort = (): void => {
    attempt.abort(signal.reason);
  };
  // The C client never reports that it cannot connect; some failures leave it dead for good.
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

async function connectTo(
  addresses: string[],
  settings: Settings,
  request: ConnectRequest,
): Promise<ZkDriver> {
  const { ttlMs, clock, signal } = request;
  const native = newNativeClient();
  const driver = new NativeDriver(native, clock, callTimeoutOf(ttlMs));
  const connected = firstValueFrom(merge(driver.connection$, driver.ended$), { defaultValue: undefined });
  init(native, addresses, ttlMs);
  const { auth } = settings;
  const authenticated = auth && driver.authenticate(auth.username, auth.password);
  try {
    await orAborted(Promise.all([connected, authenticated]), signal);
    return driver;
  } catch (error) {
    void driver.close();
    throw driver.endedWith === AUTH_FAILED_STATE ? refused(settings) : error;
  }
}

function init(native: NativeClient, addresses: readonly string[], ttlMs: number): void {
  native.init({
    connect: Array.from({ length: ROUNDS_WITHOUT_PAUSE }, () => addresses.join(',')).join(','),
    timeout: Math.round(ttlMs),
    debug_level: 0,
    host_order_deterministic: false,
    // By default the package ends the session when an answer comes in more than ten pieces.
    response_counter_limit: 1_000_000_000,
  });
}

/** Long enough for a busy server, short enough that several calls fit into a session. */
function callTimeoutOf(ttlMs: number): number {
  return Math.min(5_000, Math.max(1_000, ttlMs / 2));
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
