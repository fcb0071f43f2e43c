import type { Channel, ChannelListener, Driver } from '../driver/driver.ts';

/**
 * Returns a driver that is loaded when it is first used. Calls during the loading wait, and their timeouts start when the driver is loaded. Then the
 * methods of the loaded driver replace those of the returned one.
 */
export function lazyDriver(load: () => Promise<Driver>): Driver {
  const lazy = new LazyDriver(async () => Object.assign(driver, await load()));
  const driver: Driver = {
    range: (request, call) => lazy.use((loaded) => loaded.range(request, call)),
    put: (request, call) => lazy.use((loaded) => loaded.put(request, call)),
    deleteRange: (request, call) => lazy.use((loaded) => loaded.deleteRange(request, call)),
    txn: (request, call) => lazy.use((loaded) => loaded.txn(request, call)),
    leaseGrant: (request, call) => lazy.use((loaded) => loaded.leaseGrant(request, call)),
    leaseRevoke: (request, call) => lazy.use((loaded) => loaded.leaseRevoke(request, call)),
    leaseTimeToLive: (request, call) => lazy.use((loaded) => loaded.leaseTimeToLive(request, call)),
    status: (call) => lazy.use((loaded) => loaded.status(call)),
    watch: (listener) => lazy.open((loaded, late) => loaded.watch(late), listener),
    keepAlive: (listener) => lazy.open((loaded, late) => loaded.keepAlive(late), listener),
    close: () => {
      lazy.close();
    },
  };
  return driver;
}

type Open<Request, Response> = (driver: Driver, listener: ChannelListener<Response>) => Channel<Request>;

class LazyDriver {
  readonly #load: () => Promise<Driver>;
  #loading: Promise<Driver> | undefined;
  #isClosed = false;

  constructor(load: () => Promise<Driver>) {
    this.#load = load;
  }

  use<T>(sendRequest: (driver: Driver) => Promise<T>): Promise<T> {
    return this.#loaded().then(sendRequest);
  }

  open<Request, Response>(
    open: Open<Request, Response>,
    listener: ChannelListener<Response>,
  ): Channel<Request> {
    return new LateChannel(this.#loaded(), open, listener);
  }

  /** Makes the driver close directly after it is loaded. */
  close(): void {
    this.#isClosed = true;
  }

  #loaded(): Promise<Driver> {
    return (this.#loading ??= this.#load().then((driver) => {
      if (this.#isClosed) driver.close();
      return driver;
    }));
  }
}

/** A channel to a member whose driver is still being loaded. Its requests wait until then. */
class LateChannel<Request, Response> implements Channel<Request> {
  readonly #channel: Promise<Channel<Request> | undefined>;
  #isOver = false;

  constructor(driver: Promise<Driver>, open: Open<Request, Response>, listener: ChannelListener<Response>) {
    this.#channel = driver.then(
      (loaded) => (this.#isOver ? undefined : open(loaded, listener)),
      (error: unknown) => {
        if (!this.#isOver) listener.onEnd(error);
        return undefined;
      },
    );
  }

  write(request: Request): void {
    void this.#channel.then((channel) => channel?.write(request));
  }

  close(): void {
    this.#isOver = true;
    void this.#channel.then((channel) => channel?.close());
  }

  abandon(): void {
    this.#isOver = true;
    void this.#channel.then((channel) => channel?.abandon());
  }
}
