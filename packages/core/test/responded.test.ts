import { expect } from 'chai';
import { createLockClient } from '@queuelock/core';
import { QueueLockError, type Backend } from '@queuelock/core/backend';
import { memory } from '@queuelock/memory';

/** Acquires a lock on a store that fails to open a session with `failure`. Returns the error of the acquisition. */
async function errorWhen(failure: QueueLockError): Promise<QueueLockError> {
  const store = memory();
  const backend: Backend = Object.assign(Object.create(store) as Backend, {
    info: store.info,
    open: () => Promise.reject(failure),
  });
  const client = createLockClient(backend, { connectTimeoutMs: 1 });
  const error: unknown = await client.acquire('jobs').catch((reason: unknown) => reason);
  await client.close();
  return error as QueueLockError;
}

describe('an error UNAVAILABLE', () => {
  const text = 'store:1: too many connections (max_connections)';

  it('does not advise to check the server when the server itself sent the failure', async () => {
    const error = await errorWhen(new QueueLockError('UNAVAILABLE', text, { responded: true }));
    expect(error).to.include({ code: 'UNAVAILABLE', retryable: true, responded: true });
    expect(error.message).to.contain(text).and.not.contain('check that the server runs');
  });

  it('advises to check the server when there was no response', async () => {
    const error = await errorWhen(new QueueLockError('UNAVAILABLE', 'store:1 did not respond'));
    expect(error.responded).to.equal(false);
    expect(error.message).to.contain('check that the server runs');
  });

  it('reports that the server has responded if its cause reports so, even from another copy of the package', () => {
    const copy = Object.assign(new Error(text), {
      name: 'QueueLockError',
      code: 'UNAVAILABLE',
      responded: true,
    });
    for (const cause of [new QueueLockError('UNAVAILABLE', text, { responded: true }), copy])
      expect(new QueueLockError('UNAVAILABLE', 'no session', { cause }).responded).to.equal(true);
    expect(new QueueLockError('UNAVAILABLE', 'no session', { cause: new Error(text) }).responded).to.equal(
      false,
    );
  });
});
