import { systemClock } from '@queuelock/core/backend';
import { firstValueFrom, merge } from 'rxjs';
import { ConnectionPacer } from '../../src/base/connection-pacer.ts';
import { WireDriver } from '../../src/wire/driver.ts';
import type { WireConnectionOptions } from '../../src/wire/connection-options.ts';
import { WireLink } from '../../src/wire/link.ts';
import type { WatchEvent } from '../../src/wire/events.ts';
import type { Welcome, WireSession } from '../../src/wire/handshake.ts';
import type { WireRequest } from '../../src/wire/request.ts';
import type { Bench } from '../bench.ts';

/** Starts a driver that connects to one of the given addresses. The driver is closed after the test. */
export function driverTo(
  bench: Bench,
  addresses: string | readonly string[],
  more: Partial<WireConnectionOptions> = {},
): WireDriver {
  const clock = more.clock ?? systemClock();
  const all = typeof addresses === 'string' ? [addresses] : addresses;
  const driver = new WireDriver({
    addresses: () => all,
    onFailure: () => undefined,
    auth: undefined,
    ttlMs: 4_000,
    pacer: new ConnectionPacer(clock),
    clock,
    ...more,
  });
  driver.ended$.subscribe({ error: () => undefined });
  return bench.keep(driver, (kept) => kept.close());
}

/** Resolves when the driver is connected; rejects when its session has ended. */
export async function connected(driver: WireDriver): Promise<WireDriver> {
  await firstValueFrom(merge(driver.connection$, driver.ended$), { defaultValue: undefined });
  return driver;
}

/** Result code and value of a reply. */
export interface WireReply<T> {
  readonly code: number;
  readonly value: T | undefined;
}

/** One connection to a server. It records the messages that it receives, in order. */
export class OneLink {
  readonly welcome: Promise<Welcome>;
  readonly lost: Promise<Error>;
  readonly events: WatchEvent[] = [];
  readonly refusals: number[] = [];
  readonly link: WireLink;

  constructor(
    bench: Bench,
    address: string,
    hello: { readonly session?: WireSession; readonly lastZxid?: bigint } = {},
  ) {
    let welcomed = (_welcome: Welcome): void => undefined;
    let lost = (_failure: Error): void => undefined;
    let failed = lost;
    this.welcome = new Promise((resolve, reject) => {
      [welcomed, failed] = [resolve, reject];
    });
    this.lost = new Promise((resolve) => (lost = resolve));
    this.welcome.catch(() => undefined);
    const options = {
      address,
      tls: undefined,
      hello: { lastZxid: 0n, timeoutMs: 4_000, session: undefined, ...hello },
      withinMs: 10_000,
      clock: systemClock(),
    };
    const link = new WireLink(options, {
      welcomed: (welcome) => welcomed(welcome),
      changed: (event) => this.events.push(event),
      refused: (code) => this.refusals.push(code),
      lost: (failure) => {
        lost(failure);
        failed(failure);
      },
    });
    this.link = bench.keep(link, (kept) => kept.destroy(new Error('the test is over')));
  }

  request<T>(request: WireRequest<T>): Promise<WireReply<T>> {
    return new Promise((resolve) => {
      this.link.ask(request, (code, value) => resolve({ code, value }));
    });
  }
}
