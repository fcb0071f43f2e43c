import { AsyncLocalStorage } from 'node:async_hooks';
import { expect } from 'chai';
import { isQueueLockError, renewerSupport, type RenewerSupport } from '../src/backend.ts';

interface Options {
  readonly url?: string;
  readonly auth?: unknown;
  readonly client?: object;
  readonly naming?: () => string;
}

const MODULE = 'file:///open-renewer.js';

function support(options: Options): RenewerSupport {
  return renewerSupport({
    options,
    sent: ['url', 'auth'],
    refused: { client: 'is left out: set url instead' },
    loadModule: async () => MODULE,
    sessionData: ({ id }: { readonly id: string }) => id,
  });
}

function refusal(options: Options): unknown {
  try {
    support(options).check();
    return undefined;
  } catch (error) {
    return isQueueLockError(error, 'INVALID_ARGUMENT') ? error.message : error;
  }
}

describe('the support of a backend for heartbeats from a thread', () => {
  it('passes options and session data to the thread, and keeps options that are functions in the main thread', async () => {
    const auth = (): string => 'secret';
    const sourceFor = await support({ url: 'store://h', auth, naming: () => 'fast' }).loadSources();
    const { functions, ...source } = sourceFor({ id: 'session' });
    expect(source).to.deep.equal({ module: MODULE, options: { url: 'store://h' }, session: 'session' });
    expect(Object.keys(functions)).to.deep.equal(['auth']);
    expect(functions['auth']?.()).to.equal('secret');
  });

  it('calls functions in the asynchronous context in which the backend was created', async () => {
    const tenant = new AsyncLocalStorage<string>();
    const made = tenant.run('alice', () => support({ auth: () => tenant.getStore() }));
    const { functions } = (await made.loadSources())({ id: 'session' });
    expect(tenant.run('bob', () => functions['auth']?.())).to.equal('alice');
  });

  it('accepts options that are functions, and options that the thread does not need', () => {
    for (const options of [{}, { auth: () => 'secret' }, { naming: () => 'fast' }, { client: undefined! }])
      expect(refusal(options)).to.equal(undefined);
  });

  it('refuses an option with which no thread can send heartbeats, and names the alternative', () => {
    expect(refusal({ client: {} })).to.match(/client beside maxBlockedMs is left out: set url instead/);
  });

  it('refuses a value that cannot be cloned, in a message without the value', () => {
    const auth = { password: 'secret', read: (): string => 'secret' };
    expect(refusal({ auth }))
      .to.match(/auth beside maxBlockedMs is left out, or a value that a thread can be passed/)
      .and.not.match(/secret/);
  });
});
