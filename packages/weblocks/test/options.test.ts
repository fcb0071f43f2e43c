import { createLockClient } from '@queuelock/core';
import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { createLockManager } from '../src/index.ts';

/** Returns the options without types, as plain JavaScript passes them. */
const untyped = (options: unknown): never => options as never;

describe('options of a lock manager', () => {
  it('are refused if one is unknown, by an error that names it, or if they are not an object', () => {
    expect(() => createLockManager(memory(), untyped({ client: 'x' }))).to.throw(
      '[INVALID_ARGUMENT] options of createLockManager: client is unknown, did you mean clientId?',
    );
    expect(() => createLockManager(memory(), untyped(null))).to.throw(
      'options of createLockManager must be an object; got null',
    );
    expect(() => createLockManager(untyped('etcd://u:secret@h'))).to.throw(
      'source must be an object; got a string',
    );
  });

  it('for its requests may contain unknown members, as the standard requires', async () => {
    await using client = createLockClient(memory());
    await using locks = createLockManager(client);
    expect(await locks.request('x', untyped({ colour: 'blue' }), () => 'done')).to.equal('done');
  });
});
