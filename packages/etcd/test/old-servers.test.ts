import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import type { Backend } from '@queuelock/core/backend';
import { etcdOver } from '../src/backend.ts';
import type { Driver } from '../src/driver/driver.ts';
import { isTooOld } from '../src/server/read-trust.ts';
import { driverOf } from '../src/wire/transport.ts';
import { freshQueue } from './clients.ts';
import { OwnServer } from './own-server.ts';

describe('an etcd server older than 3.4', () => {
  const own = new OwnServer();
  let backend: Backend;

  beforeEach(() => {
    backend = over((driver) => async (options) => ({ ...(await driver.status(options)), version: '3.3.25' }));
  });
  afterEach(() => backend.close());

  it('is refused when a client connects, with its address and version in the error', async () => {
    const client = createLockClient(backend);
    const error: unknown = await client.acquire(freshQueue()).catch((failure: unknown) => failure);
    await client.close();
    expect(error).to.include({ code: 'INVALID_ARGUMENT', retryable: false });
    expect(error)
      .to.have.property('message')
      .that.includes(`"${own.server.endpoint}"`)
      .and.includes('3.3.25');
    expect(error).to.have.property('message').that.does.not.include('check that the server runs');
  });

  it('is an error in the diagnosis', async () => {
    const about = `member ${own.server.endpoint}`;
    const text = 'etcd 3.3.25 is older than 3.4, and every client refuses it: upgrade';
    expect(await backend.diagnose?.('')).to.deep.include({ level: 'error', about, text });
  });

  it('is not assumed if a server reports no version', async () => {
    await backend.close();
    backend = over(() => () => Promise.reject(new Error('no such call')));
    const session = await backend.open(60_000, new AbortController().signal);
    await session.close();
  });

  it('is recognized by its version, and text that is not a version is ignored', () => {
    const versions = ['3.3.25', '2.3.8', '3.4.0', '3.5.16', '3.10.1', '4.0.0', 'kine'];
    expect(versions.filter(isTooOld)).to.deep.equal(['3.3.25', '2.3.8']);
  });

  function over(statusOf: (driver: Driver) => Driver['status']): Backend {
    return etcdOver(
      (host, options, failures) => {
        const driver = driverOf(host, options, failures);
        return { ...driver, status: statusOf(driver) };
      },
      { hosts: own.server.endpoint },
    );
  }
});
