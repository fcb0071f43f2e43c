import { createSecureContext } from 'node:tls';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AsyncLocalStorage } from 'node:async_hooks';
import { issueCertificates, type Certificates } from '@queuelock/harness/services/certificates';
import { expect } from 'chai';
import {
  FreshCredentials,
  connectionCredentials,
  type CredentialParts,
  type QueueLockError,
} from '../src/backend.ts';

const WITHIN_MS = 40;
const NONE: CredentialParts = {
  files: {},
  login: {},
  tls: undefined,
  auth: undefined,
  withinMs: WITHIN_MS,
  makeContext: createSecureContext,
};

async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => new Error('it succeeded'),
    (error: unknown) => error,
  );
}

function errorsOf({ errors$ }: FreshCredentials<unknown>): readonly QueueLockError[] {
  const errors: QueueLockError[] = [];
  errors$.subscribe((error) => errors.push(error));
  return errors;
}

describe('credentials of new connections', () => {
  it('are read once for connections that open at the same time, and again for later connections', async () => {
    let reads = 0;
    const credentials = new FreshCredentials({ withinMs: WITHIN_MS, read: async () => (reads += 1) });
    expect(await Promise.all([credentials.next(), credentials.next()])).to.deep.equal([1, 1]);
    expect(await credentials.next()).to.equal(2);
    expect(credentials.latest).to.equal(2);
  });

  it('stay the last valid ones after a failed read until a read succeeds', async () => {
    const results: (() => string)[] = [
      () => 'one',
      () => {
        throw new Error('no vault');
      },
      () => 'two',
    ];
    const credentials = new FreshCredentials({ withinMs: WITHIN_MS, read: () => results.shift()!() });
    const errors = errorsOf(credentials);
    expect([await credentials.next(), await credentials.next(), await credentials.next()]).to.deep.equal([
      'one',
      'one',
      'two',
    ]);
    expect(errors).to.have.lengthOf(1);
    expect(errors[0]).to.include({ code: 'UNAVAILABLE', retryable: true });
    expect(errors[0]!.message).to.include('cannot be read: no vault; the last valid ones are used');
  });

  it('are the last valid ones while a read gets no result', async () => {
    let finish!: (value: string) => void;
    const late = new Promise<string>((resolve) => (finish = resolve));
    const results = [Promise.resolve('one'), late, new Promise<never>(() => undefined)];
    const credentials = new FreshCredentials({ withinMs: WITHIN_MS, read: () => results.shift()! });
    const errors = errorsOf(credentials);
    expect([await credentials.next(), await credentials.next()]).to.deep.equal(['one', 'one']);
    finish('two');
    expect(await credentials.next()).to.equal('two');
    expect(errors.map(({ message }) => /no result within 40 ms/.test(message))).to.deep.equal([true, true]);
  });

  it('make the connection reject with the reason when their first read fails', async () => {
    const broken = new FreshCredentials({
      withinMs: WITHIN_MS,
      read: () => Promise.reject(new Error('no vault')),
    });
    const errors = errorsOf(broken);
    expect(await failureOf(broken.next())).to.include({ code: 'UNAVAILABLE' });
    expect(errors).to.deep.equal([]);
    const wrong = connectionCredentials({ ...NONE, auth: () => ({ user: 'a' }) as never });
    expect(await failureOf(wrong.next())).to.include({ code: 'INVALID_ARGUMENT' });
  });

  it('are read in the async context in which the caller passed the function that returns them', async () => {
    const caller = new AsyncLocalStorage<string>();
    const seen: (string | undefined)[] = [];
    const credentials = caller.run('Ann', () =>
      connectionCredentials({
        ...NONE,
        auth: () => {
          seen.push(caller.getStore());
          return { username: 'a' };
        },
      }),
    );
    await caller.run('Ben', () => credentials.next());
    expect(seen).to.deep.equal(['Ann']);
  });

  it('are available without a wait when they are fixed, and refused at once when they are invalid', async () => {
    const credentials = connectionCredentials({
      ...NONE,
      login: { username: 'a', password: 'b' },
      auth: { password: 'c' },
    });
    expect(credentials.isFixed).to.equal(true);
    expect((await credentials.next()).login).to.deep.equal({ username: 'a', password: 'c' });
    for (const part of [
      { tls: { ca: 'hush' } },
      { tls: { cert: 'hush' } },
      { auth: { password: 1 } },
      { files: { ca: '/nowhere/hush.pem' } },
    ])
      expect(() => connectionCredentials({ ...NONE, ...part } as never))
        .to.throw()
        .with.property('code', 'INVALID_ARGUMENT');
  });
});

describe('PEM files of new connections', () => {
  let directory: string;
  let one: Certificates;
  let two: Certificates;

  before(async function () {
    const issued = [await issueCertificates(), await issueCertificates()];
    if (!issued[0] || !issued[1]) {
      this['skipReason'] = 'needs openssl';
      return this.skip();
    }
    [one, two] = [issued[0], issued[1]];
    directory = await mkdtemp(join(tmpdir(), 'queuelock-pems-'));
  });
  after(() => rm(directory, { recursive: true, force: true }));

  const put = async ({ ca, cert, key }: { ca?: Buffer; cert?: Buffer; key?: Buffer }): Promise<void> => {
    for (const [name, pem] of Object.entries({ ca, cert, key }))
      if (pem) await writeFile(join(directory, name), pem);
  };

  it('are not used while only some of the files have been replaced', async () => {
    await put({ ca: one.ca, ...one.client });
    const files = { ca: join(directory, 'ca'), cert: join(directory, 'cert'), key: join(directory, 'key') };
    const credentials = connectionCredentials({ ...NONE, files });
    const errors = errorsOf(credentials);
    const isOf = async (generation: Certificates): Promise<void> => {
      expect((await credentials.next()).pems).to.deep.equal({ ca: generation.ca, ...generation.client });
    };
    await isOf(one);
    const broken: readonly (readonly [what: string, files: Parameters<typeof put>[0]])[] = [
      ['a certificate without its key', { cert: two.client.cert }],
      ['an empty authority', { cert: one.client.cert, ca: Buffer.alloc(0) }],
      ['half an authority', { ca: two.ca.subarray(0, two.ca.length / 2) }],
      ['an authority with half of a second one', { ca: Buffer.concat([one.ca, two.ca.subarray(0, 200)]) }],
      [
        'an authority without its middle',
        { ca: Buffer.concat([two.ca.subarray(0, 100), two.ca.subarray(200)]) },
      ],
    ];
    for (const [what, written] of broken) {
      await put(written);
      const before = errors.length;
      await isOf(one);
      expect(errors.length, what).to.equal(before + 1);
    }
    await rm(files.ca);
    await isOf(one);
    await put({ ca: two.ca, ...two.client });
    await isOf(two);
    await put({ ca: Buffer.concat([one.ca, two.ca]) });
    expect((await credentials.next()).pems.ca).to.deep.equal(Buffer.concat([one.ca, two.ca]));
  });
});
