import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import { checkedOptions, isQueueLockError, type KnownOptions } from '../src/backend.ts';
import { createLockClient, type LockClient } from '../src/index.ts';
import { nearestName } from '../src/base/nearest-name.ts';

/** Returns the value without its TypeScript type, so that a test can pass options that only JavaScript allows. */
const untyped = (input: unknown): never => input as never;

async function refusalOf(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (isQueueLockError(error, 'INVALID_ARGUMENT')) return error.message.replace('[INVALID_ARGUMENT] ', '');
    throw error;
  }
  throw new Error('nothing was refused');
}

describe('an unknown option', () => {
  let client: LockClient;
  beforeEach(() => (client = createLockClient(memory())));
  afterEach(() => client.close());

  const calls: Readonly<Record<string, (options: never) => unknown>> = {
    createLockClient: (options) => createLockClient(memory(), options),
    claim: (options) => client.claim('x', options),
    claimWithPosition: (options) => client.claimWithPosition('x', options),
    acquire: (options) => client.acquire('x', options),
    tryAcquire: (options) => client.tryAcquire('x', options),
    run: (options) => client.run('x', () => undefined, options),
    evict: (options) => client.evict('x', { key: 'x/1', order: 1n, owner: '' }, options),
    'claim of several names': (options) => client.multi(['x', 'y']).claim(options),
    'acquire of several names': (options) => client.multi(['x', 'y']).acquire(options),
    'tryAcquire of several names': (options) => client.multi(['x', 'y']).tryAcquire(options),
    'run of several names': (options) => client.multi(['x', 'y']).run(() => undefined, options),
  };
  for (const [call, withOptions] of Object.entries(calls)) {
    const argument = `options of ${call.split(' ')[0] ?? ''}`;
    it(`is refused by ${call}, as are options that are not an object`, async () => {
      expect(await refusalOf(() => withOptions(untyped({ colour: 1 })))).to.match(
        new RegExp(`^${argument}: colour is unknown, known options are \\w+`),
      );
      for (const [input, shown] of [
        [null, 'null'],
        [500, '500'],
        [['x'], 'an array'],
        ['secret', 'a string'],
        [() => 0, 'a function'],
      ] as const)
        expect(await refusalOf(() => withOptions(untyped(input)))).to.equal(
          `${argument} must be an object; got ${shown}`,
        );
    });
  }

  it('is refused with a suggestion when its name resembles a known one', async () => {
    expect(await refusalOf(() => client.acquire('x', untyped({ timeout: 500 })))).to.equal(
      'options of acquire: timeout is unknown, did you mean timeoutMs?',
    );
    expect(await refusalOf(() => createLockClient(memory(), untyped({ ttl: 5 })))).to.include(
      'did you mean ttlMs?',
    );
    expect(await refusalOf(() => client.claim('x', untyped({ steal: { reasn: 'late' } })))).to.equal(
      'steal: reasn is unknown, did you mean reason?',
    );
    expect(
      await refusalOf(() => client.claim('x', untyped({ request: { reason: 'x', within: 5 } }))),
    ).to.include('did you mean withinMs?');
  });

  it('is ignored while its value is undefined', async () => {
    const hold = await client.acquire(
      'x',
      untyped({ timeout: undefined, timeoutMs: undefined, metadata: undefined }),
    );
    await hold.release();
  });

  it('is refused by a call that does not accept it, even if other calls accept it', async () => {
    expect(await refusalOf(() => client.tryAcquire('x', untyped({ timeoutMs: 5 })))).to.include(
      'timeoutMs is unknown',
    );
    expect(await refusalOf(() => client.claim('x', untyped({ reentrant: true })))).to.include(
      'reentrant is unknown',
    );
    expect(await refusalOf(() => client.multi(['x']).acquire(untyped({ limit: 2 })))).to.include(
      'limit is unknown',
    );
    for (const spec of [{ steal: { reason: 'late' } }, { request: { reason: 'late', withinMs: 5 } }])
      expect(await refusalOf(() => client.tryAcquire('x', spec))).to.include('requires a wait in the queue');
  });
});

describe('an option whose value has the wrong type', () => {
  let client: LockClient;
  beforeEach(() => (client = createLockClient(memory())));
  afterEach(() => client.close());

  const wrong: readonly (readonly [options: object, message: string])[] = [
    [{ metadata: null }, 'metadata must be an object; got null'],
    [{ metadata: 'x' }, 'metadata must be an object; got a string'],
    [{ timeoutMs: '500' }, 'timeoutMs is a number; got "500"'],
    [{ timeoutMs: null }, 'timeoutMs is a number; got null'],
    [{ owner: 7 }, 'owner is a string; got 7'],
    [{ reentrant: 'yes' }, 'reentrant is a boolean; got "yes"'],
    [{ reenter: 5 }, 'reenter must be an object; got 5'],
    [{ signal: null }, 'signal is an AbortSignal; got null'],
    [{ steal: null }, 'steal must be an object; got null'],
    [{ mode: null }, "mode is 'exclusive' or 'shared'; got null"],
    [{ limit: null }, 'limit is a whole number from 1 to 1000000; got null'],
    [{ holding: null }, 'holding is a list of ownerships; got null'],
  ];
  for (const [options, message] of wrong)
    it(`is refused by acquire: ${message}`, async () => {
      expect(await refusalOf(() => client.acquire('x', untyped(options)))).to.equal(message);
    });

  it('is refused by createLockClient, with its name and the right type', async () => {
    for (const options of [
      { ttlMs: '5000' },
      { owner: 5 },
      { resume: 1 },
      { clock: 5 },
      { safetyMarginMs: null },
    ])
      expect(await refusalOf(() => createLockClient(memory(), untyped(options)))).to.match(
        /^(ttlMs|owner|resume|clock|safetyMarginMs) (is a|must be)/,
      );
  });

  it('is refused by hold.update, with its name and the right type', async () => {
    const hold = await client.acquire('x');
    expect(await refusalOf(() => hold.update(untyped({ metadata: null })))).to.equal(
      'metadata must be an object; got null',
    );
    await hold.release();
  });
});

describe('an invalid backend, work or entry', () => {
  const rule = 'is a backend, as etcd(options) or fromUrl(url) returns it';

  it('is refused with an error that names the argument, but does not quote a URL', async () => {
    expect(await refusalOf(() => createLockClient(untyped('etcd://u:secret@h')))).to.equal(
      'backend is a backend, not a URL: pass fromUrl(url) of @queuelock/etcd, @queuelock/zookeeper and so on; got a string',
    );
    expect(await refusalOf(() => createLockClient(untyped({ hosts: 'h' })))).to.equal(
      `backend ${rule}; got an object`,
    );
    expect(await refusalOf(() => createLockClient(untyped(undefined)))).to.include('backend must be');
  });

  it('is refused before a lock is acquired', async () => {
    await using client = createLockClient(memory());
    expect(await refusalOf(() => client.run('x', untyped(undefined)))).to.equal(
      'work is a function; got undefined',
    );
    expect(await refusalOf(() => client.multi(['x']).run(untyped({})))).to.equal(
      'work is a function; got an object',
    );
    expect(await refusalOf(() => client.evict('x', untyped('x/1'), { reason: 'y' }))).to.include(
      'entry must be',
    );
    expect(await refusalOf(() => client.evict('x', untyped({ key: 'x/1' }), { reason: 'y' }))).to.include(
      'entry has key and order',
    );
    expect(await refusalOf(() => client.tokenOf('x', untyped(null)))).to.include('entry must be');
  });
});

describe('the list of options that a call accepts', () => {
  it('must name exactly the members of the TypeScript interface of the options, or the compiler reports an error', () => {
    interface Options {
      readonly waitMs?: number;
    }
    // @ts-expect-error -- one member is unknown
    const tooLong: KnownOptions<Options> = { waitMs: 'number', wait: 'number' };
    // @ts-expect-error -- one member is missing
    const tooShort: KnownOptions<Options> = {};
    expect([tooLong, tooShort]).to.have.length(2);
    const known: KnownOptions<Options> = { waitMs: 'number' };
    const inherited = JSON.parse('{"__proto__": 1}') as Options;
    expect(() => checkedOptions('options', inherited, known)).to.throw('__proto__ is unknown');
    expect(() => checkedOptions('options', { toString: 5 } as Options, known)).to.throw(
      'toString is unknown',
    );
  });

  it('provides a suggestion for an unknown option only if it contains a similar name', () => {
    const known = ['signal', 'timeoutMs', 'minRemainingMs', 'owner', 'hosts', 'id', 'ttlMs', 'maxWaiters'];
    const cases: readonly (readonly [written: string, meant: string | undefined])[] = [
      ['timeout', 'timeoutMs'],
      ['timeoutms', 'timeoutMs'],
      ['timeOutMS', 'timeoutMs'],
      ['timoutMs', 'timeoutMs'],
      ['ttl', 'ttlMs'],
      ['host', 'hosts'],
      ['abortSignal', 'signal'],
      ['singal', 'signal'],
      ['maxWaiter', 'maxWaiters'],
      ['ownr', 'owner'],
      ['ID', 'id'],
      ['colour', undefined],
      ['x', undefined],
      ['', undefined],
      ['retries', undefined],
    ];
    for (const [written, meant] of cases) expect(nearestName(written, known), written).to.equal(meant);
  });
});
