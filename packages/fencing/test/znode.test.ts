import { expect } from 'chai';
import fc from 'fast-check';
import {
  decodeFencedData,
  encodeFencedData,
  fencedZnode,
  npmZookeeper,
  type NpmZookeeperSession,
  type ZnodeClient,
} from '../src/index.ts';

/** A simulated znode. A scheduler of the test decides when each reply arrives. */
function scheduledNode(scheduler: fc.Scheduler): { client: ZnodeClient; written: bigint[] } {
  let node = { data: encodeFencedData('') as Uint8Array, version: 0 };
  const written: bigint[] = [];
  const client: ZnodeClient = {
    async get() {
      await scheduler.schedule(Promise.resolve(), 'read arrives');
      const seen = node;
      await scheduler.schedule(Promise.resolve(), 'read is answered');
      return seen;
    },
    async set(_path, data, version) {
      await scheduler.schedule(Promise.resolve(), 'write arrives');
      const fits = node.version === version;
      if (fits) node = { data, version: version + 1 };
      if (fits) written.push(decodeFencedData(data).token);
      await scheduler.schedule(Promise.resolve(), 'write is answered');
      return fits;
    },
  };
  return { client, written };
}

describe('a fenced znode', () => {
  it('accepts no write of an earlier holder after a write of a later holder', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.scheduler(),
        fc.array(fc.bigInt({ min: 1n, max: 4n }), { minLength: 2, maxLength: 6 }),
        async (scheduler, tokens) => {
          const { client, written } = scheduledNode(scheduler);
          const outcomes = Promise.all(
            tokens.map((token) => fencedZnode(client, '/r', { token }).write('x')),
          );
          await scheduler.waitFor(outcomes);
          expect(written).to.deep.equal(written.toSorted((a, b) => Number(a - b)));
          const accepted = (await outcomes).filter(({ outcome }) => outcome === 'accepted');
          expect(accepted).to.have.length(written.length);
          expect(written.at(-1)).to.equal(tokens.reduce((a, b) => (a > b ? a : b)));
        },
      ),
    );
  });

  it('reports the token of the later holder when it refuses a write', async () => {
    const client: ZnodeClient = {
      get: async () => ({ data: encodeFencedData('x', 9n), version: 3 }),
      set: async () => expect.fail('it wrote'),
    };
    const outcome = await fencedZnode(client, '/r', { token: 8n }).write('y');
    expect(outcome).to.include({ outcome: 'refused', largest: 9n });
  });

  it('rejects calls with its path in the error when it does not exist or its path is invalid', async () => {
    const client: ZnodeClient = { get: async () => undefined, set: async () => true };
    const failed = await fencedZnode(client, '/r', { token: 1n }).claim().catch(String);
    expect(failed).to.match(/INVALID_ARGUMENT.*there is no znode \/r; create it once/);
    expect(() => fencedZnode(client, 'r', { token: 1n })).to.throw(/path begins with \/; got "r"/);
  });
});

describe('the data of a fenced znode', () => {
  it('is encoded and decoded without loss for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }), (data, token) => {
        const read = decodeFencedData(encodeFencedData(data, token));
        expect(read.token).to.equal(token);
        expect(Buffer.from(read.data).equals(Buffer.from(data))).to.equal(true);
      }),
    );
  });

  it('may be empty, as in a new node, but is refused when it has no token', () => {
    expect(decodeFencedData(new Uint8Array())).to.deep.equal({ token: 0n, data: new Uint8Array() });
    for (const text of ['x', 'queuelock-fence 7', 'queuelock-fence 07\n', `queuelock-fence ${2n ** 63n}\n`]) {
      expect(() => decodeFencedData(Buffer.from(text)), text).to.throw(/write it there once/);
    }
  });
});

describe('npmZookeeper', () => {
  const session = (code: number, reply = true): NpmZookeeperSession => ({
    a_get: (_path, _watch, done) => {
      if (reply) done(code, 'text', { version: 4 }, null);
      return 0;
    },
    a_set: (_path, _data, _version, done) => {
      if (reply) done(code, 'text');
      return 0;
    },
  });

  it('calls code of the caller only after the native callback has returned', async () => {
    let inCallback = false;
    const client = npmZookeeper({
      ...session(0),
      a_get: (_path, _watch, done) => {
        setTimeout(() => {
          inCallback = true;
          done(0, 'ok', { version: 4 }, Buffer.from('x'));
          // Imitates the native binding of npm zookeeper, in which pending promise jobs run before the native
          // callback returns.
          void Promise.resolve().then(() =>
            Promise.resolve().then(() => process.nextTick(() => (inCallback = false))),
          );
        }, 0);
        return 0;
      },
    });
    await client.get('/r');
    expect(inCallback).to.equal(false);
  });

  it('distinguishes a missing node, another version and empty data from failures', async () => {
    expect(await npmZookeeper(session(0)).get('/r')).to.deep.equal({ version: 4, data: new Uint8Array() });
    expect(await npmZookeeper(session(-101)).get('/r')).to.equal(undefined);
    expect(await npmZookeeper(session(-103)).set('/r', Buffer.from('x'), 1)).to.equal(false);
    expect(await npmZookeeper(session(0)).set('/r', Buffer.from('x'), 1)).to.equal(true);
  });

  it('refuses data as text, which would lose bytes', async () => {
    const asText: NpmZookeeperSession = {
      ...session(0),
      a_get: (_path, _watch, done) => done(0, 'ok', { version: 4 }, 'text'),
    };
    const failed = await npmZookeeper(asText).get('/r').catch(String);
    expect(failed).to.match(/INVALID_ARGUMENT.*data_as_buffer of the session is true/);
  });

  it('reports UNAVAILABLE for a lost connection, a refused call and a timeout', async () => {
    const set = async (native: NpmZookeeperSession): Promise<unknown> =>
      npmZookeeper(native, { timeoutMs: 5 })
        .set('/r', Buffer.from('x'), 1)
        .catch((error: unknown) => (error as { code: string }).code);
    expect(await set(session(-4))).to.equal('UNAVAILABLE');
    expect(await set({ ...session(0, false), a_set: () => -9 })).to.equal('UNAVAILABLE');
    expect(await set(session(0, false))).to.equal('UNAVAILABLE');
    expect(await set(session(-102))).to.equal('ACCESS_DENIED');
  });
});
