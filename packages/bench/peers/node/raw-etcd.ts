import type { IWatchResponse } from '../../../etcd/src/protocol/messages.ts';
import type { Driver } from '../../../etcd/src/driver/driver.ts';
import { checkOptions } from '../../../etcd/src/api/options.ts';
import { driverOf } from '../../../etcd/src/wire/transport.ts';
import type { RawStore } from './contender.ts';
import type { Transport } from './transport.ts';
import { endpointOf } from './protocol.ts';

const CALL = { withinMs: 10_000 };
const bytes = (text: string): Buffer => Buffer.from(text);

/** Raw etcd calls over one of queuelock's transports. */
export function rawEtcd(transport: Transport): RawStore {
  const endpoint = endpointOf('ETCD');
  const driver = driverOf(endpoint, checkOptions({ hosts: endpoint, transport }));
  const put = (key: string): Promise<unknown> =>
    driver.put({ key: bytes(key), value: Buffer.alloc(0) }, CALL);
  const remove = (key: string): Promise<unknown> => driver.deleteRange({ key: bytes(key) }, CALL);
  const watches = new Deletions(driver);
  return {
    create: put,
    remove,
    watchDeletion: (key, gone) => watches.watch(key, gone),
    calls: {
      put,
      putdelete: (key) => put(key).then(() => remove(key)),
      event: (key) => eventOf(put, { remove, watches, key }),
    },
    async close() {
      watches.close();
      driver.close();
    },
  };
}

/**
 * Prepares to revoke the lease of a session over another connection than that of the session's client. The
 * returned function revokes the lease.
 */
export async function leaseRevocation(lease: string, transport: Transport): Promise<() => Promise<unknown>> {
  const endpoint = endpointOf('ETCD');
  const driver = driverOf(endpoint, checkOptions({ hosts: endpoint, transport }));
  // Makes a first call to etcd, which opens the connection, so that the measured call need not open it.
  await driver.status(CALL);
  return () => driver.leaseRevoke({ ID: lease }, CALL);
}

interface Watched {
  readonly remove: (key: string) => Promise<unknown>;
  readonly watches: Deletions;
  readonly key: string;
}

async function eventOf(put: (key: string) => Promise<unknown>, { remove, watches, key }: Watched) {
  await put(key);
  let reported: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (reported = resolve));
  await watches.watch(key, () => reported());
  await Promise.all([remove(key), gone]);
}

/** Watches keys from the present revision on, all over one stream. Cancels a key's watch after its event. */
class Deletions {
  readonly #channel: ReturnType<Driver['watch']>;
  readonly #live = new Map<string, () => void>();
  readonly #gone = new Map<string, () => void>();
  #last = 0;

  constructor(driver: Driver) {
    this.#channel = driver.watch({
      onResponse: (response) => this.#receive(response),
      onEnd: (error) => {
        throw error;
      },
    });
  }

  watch(key: string, gone: () => void): Promise<void> {
    this.#last += 1;
    const id = String(this.#last);
    this.#gone.set(id, gone);
    return new Promise((resolve) => {
      this.#live.set(id, resolve);
      this.#channel.write({ create_request: { key: bytes(key), filters: ['Noput'], watch_id: id } });
    });
  }

  close(): void {
    this.#channel.close();
  }

  #receive({ created, watch_id, events }: IWatchResponse): void {
    if (created) this.#live.get(watch_id)?.();
    if (!events.some(({ type }) => type === 'Delete')) return;
    this.#gone.get(watch_id)?.();
    this.#gone.delete(watch_id);
    this.#live.delete(watch_id);
    this.#channel.write({ cancel_request: { watch_id } });
  }
}
