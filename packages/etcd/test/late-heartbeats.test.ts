import { expect } from 'chai';
import type { Session } from '@queuelock/core/backend';
import { etcdOver } from '../src/backend.ts';
import type { Driver } from '../src/driver/driver.ts';
import { driverOf } from '../src/wire/transport.ts';
import { OwnServer } from './own-server.ts';

const TTL_MS = 60_000;
/** The remaining TTL in seconds that the server reports for the lease. It is less than the TTL in a heartbeat's reply. */
const LEFT_S = '41';

describe('the reply to an etcd heartbeat', () => {
  const own = new OwnServer();
  let requested: number;
  let streams: number;
  let close: () => Promise<void>;

  afterEach(() => close());

  it('proves only the remaining TTL that is read from the lease when the member is a grpc-proxy', async () => {
    const session = await open((driver) => ({ ...driver, watch: numberedByServer(driver) }));
    expect(await renewed(session)).to.deep.equal({ ttlMs: 41_000, requested: 1 });
  });

  it('proves only the remaining TTL of the lease while the member may be a proxy', async () => {
    const watch: Driver['watch'] = (listener) => {
      queueMicrotask(() => listener.onEnd(new Error('no watch is to be had')));
      return { write: ignore, close: ignore, abandon: ignore };
    };
    const session = await open((driver) => ({ ...driver, watch }));
    expect(await renewed(session)).to.deep.equal({ ttlMs: 41_000, requested: 1 });
    expect(await renewed(session)).to.deep.equal({ ttlMs: 41_000, requested: 2 });
  });

  it('proves the whole TTL, without a read of the lease, when the member is reached directly', async () => {
    const session = await open((driver) => driver);
    expect(await renewed(session)).to.deep.equal({ ttlMs: TTL_MS, requested: 0 });
  });

  it('comes on a new stream for each heartbeat behind a grpc-proxy', async () => {
    const session = await open((driver) => ({ ...driver, watch: numberedByServer(driver) }));
    for (let i = 0; i < 3; i += 1) await renewed(session);
    expect(streams).to.equal(3);
  });

  it('comes on one stream with the other heartbeats when the member is reached directly', async () => {
    const session = await open((driver) => driver);
    for (let i = 0; i < 3; i += 1) await renewed(session);
    expect(streams).to.equal(1);
  });

  async function renewed(session: Session): Promise<object> {
    return { ttlMs: await session.renew(new AbortController().signal), requested };
  }

  async function open(alter: (driver: Driver) => Driver): Promise<Session> {
    [requested, streams] = [0, 0];
    const backend = etcdOver(
      (host, options, failures) => {
        const driver = driverOf(host, options, failures);
        const leaseTimeToLive: Driver['leaseTimeToLive'] = async (request, options_) => {
          requested += 1;
          return { ...(await driver.leaseTimeToLive(request, options_)), TTL: LEFT_S };
        };
        const keepAlive: Driver['keepAlive'] = (listener) => {
          streams += 1;
          return driver.keepAlive(listener);
        };
        return alter({ ...driver, leaseTimeToLive, keepAlive });
      },
      { hosts: own.server.endpoint },
    );
    const session = await backend.open(TTL_MS, new AbortController().signal);
    close = async () => {
      await session.close();
      await backend.close();
    };
    return session;
  }
});

/** Creates watches as a grpc-proxy does, which ignores the ids that the client proposes. */
function numberedByServer(driver: Driver): Driver['watch'] {
  return (listener) => {
    const channel = driver.watch(listener);
    return {
      write: ({ create_request: create, ...rest }) =>
        channel.write(create ? { create_request: { ...create, watch_id: '0' } } : rest),
      close: () => channel.close(),
      abandon: () => channel.abandon(),
    };
  };
}

function ignore(): void {
  // Does nothing, since the fake member has no real stream to close.
}
