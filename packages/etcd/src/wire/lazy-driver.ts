import type { Channel, ChannelListener, Driver } from '../driver/driver.ts';

/** Returns a driver that is loaded at its first use. Calls wait for it, and their timeouts begin when it is loaded. */
export function lazyDriver(load: () => Promise<Driver>): Driver {
  const lazy = new LazyDriver(load);
  return {
    range: (request, call) => lazy.use((driver) => driver.range(request, call)),
    put: (request, call) => lazy.use((driver) => driver.put(request, call)),
    deleteRange: (request, call) => lazy.use((driver) => driver.deleteRange(request, call)),
    txn: (request, call) => lazy.use((driver) => driver.txn(request, call)),
    leaseGrant: (request, call) => lazy.use((driver) => driver.leaseGrant(request, call)),
    leaseRevoke: (request, call) => lazy.use((driver) => driver.leaseRevoke(request, call)),
    leaseTimeToLive: (request, call) => lazy.use((driver) => driver.leaseTimeToLive(request, call)),
    status: (call) => lazy.use((driver) => driver.status(call)),
    watch: (listener) => lazy.open((driver, late) => driver.watch(late), listener),
    keepAlive: (listener) => lazy.open((driver, late) => driver.keepAlive(late), listener),
    close: () => {
      lazy.close();
    },
  };
}

type Open<Request, Response> = (driver: Driver, listener: ChannelListener<Response>) => Channel<Request>;

class LazyDriver {
  readonly #load: () => Promise<Driver>;
  #loading: Promise<Driver> | undefined;
  #driver: Driver | undefined;
  #isClosed = false;

  constructor(load: () => Promise<Driver>) {
    this.#load = load;
  }

  use<T>(ask: (driver: Driver) => Promise<T>): Promise<T> {
    return this.#driver ? ask(this.#driver) : this.#loaded().then(ask);
  }

  open<Request, Response>(
    open: Open<Request, Response>,
    listener: ChannelListener<Response>,
  ): Channel<Request> {
    if (this.#driver) return open(this.#driver, listener);
    return new LateChannel(this.#loaded(), open, listener);
  }

  close(): void {
    this.#isClosed = true;
    this.#driver?.close();
  }

  #loaded(): Promise<Driver> {
    return (this.#loading ??= this.#load().then((driver) => {
      this.#driver = driver;
      if (this.#isClosed) driver.close();
      return driver;
    }));
  }
}

/** A channel of a driver that is still being loaded. */
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
