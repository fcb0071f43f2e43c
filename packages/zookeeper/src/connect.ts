import { lookup } from 'node:dns/promises';
import { QueueLockError, type Clock } from '@queuelock/core/backend';
import type { ZkDriver } from './driver.ts';
import { NativeDriver } from './native-driver.ts';
import { newNativeClient, type NativeClient } from './native.ts';
import type { Settings } from './options.ts';
import { filter, firstValueFrom } from './rx.ts';

// After the last host of its list the C client waits a third of the session timeout before it tries the first again.
const ROUNDS_WITHOUT_A_PAUSE = 4;

/** Connects and makes a session: one attempt. Rejects with `UNAVAILABLE`, `ACCESS_DENIED` or the signal's reason. */
export async function connect(
  settings: Settings,
  { ttlMs, clock, signal }: { readonly ttlMs: number; readonly clock: Clock; readonly signal: AbortSignal },
): Promise<ZkDriver> {
  signal.throwIfAborted();
  const late = AbortSignal.timeout(settings.connectTimeoutMs);
  const stop = AbortSignal.any([signal, late]);
  try {
    const addresses = await orAborted(resolveAll(settings.hosts), stop);
    return await connectTo(addresses, settings, { ttlMs, clock, stop });
  } catch (error) {
    signal.throwIfAborted();
    throw late.aborted ? unreachable(settings) : error;
  }
}

async function connectTo(
  addresses: readonly string[],
  settings: Settings,
  { ttlMs, clock, stop }: { readonly ttlMs: number; readonly clock: Clock; readonly stop: AbortSignal },
): Promise<ZkDriver> {
  const native = newNativeClient();
  const driver = new NativeDriver(native, clock, callTimeoutOf(ttlMs));
  const connected = firstValueFrom(driver.connection$.pipe(filter(({ status }) => status === 'back')));
  const ready = [connected, failure(driver)];
  init(native, addresses, ttlMs);
  if (settings.auth) ready.push()
  try {
    await orAborted(Promise.race(ready), stop);
    return driver;
  } catch (error) {
    void driver.close();
    throw error;
  }
}
