import { expect } from 'chai';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recordRanAgainst, sharedEtcd, startEtcd, startZooKeeper, stopShared } from '../../src/services.ts';
import { plainEtcd, plainZooKeeper } from '../../src/services/plain-clients.ts';
import { startProcess, type ServerProgram } from '../../src/services/server-process.ts';
import { NotHere, type ContainerService, type ProcessService } from '../../src/services/service.ts';

/**
 * Runs `work` with other values of environment variables, and then restores the old values. A variable with
 * the value `undefined` is removed.
 */
async function withEnvironment<T>(
  variables: Readonly<Record<string, string | undefined>>,
  work: () => Promise<T>,
): Promise<T> {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const);
  const set = ([name, value]: readonly [string, string | undefined]): void => {
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  };
  Object.entries(variables).forEach(set);
  try {
    return await work();
  } finally {
    before.forEach(set);
  }
}

describe('a server that the environment names', () => {
  let running: ProcessService;

  before(async () => {
    running = await startEtcd({ way: 'process' });
  });

  after(async () => {
    await running.stop();
  });

  it('is preferred to all other ways to get a server, and is not stopped', async () => {
    const list = `${running.endpoint}, ${running.endpoint}`;
    const given = await withEnvironment({ QUEUELOCK_ETCD_ENDPOINTS: list }, () => startEtcd());
    expect(given.way).to.equal('endpoints');
    expect(given.endpoints).to.deep.equal([running.endpoint, running.endpoint]);
    expect(given.version).to.equal(running.version);
    expect(given).to.not.have.any.keys('kill', 'freeze', 'restart', 'pid');
    await given.stop();
    await plainEtcd.ask(running.endpoint);
  });

  it('is not used when a test chooses settings for the server', async () => {
    const own = await withEnvironment({ QUEUELOCK_ETCD_ENDPOINTS: running.endpoint }, () =>
      startEtcd({ flags: { 'snapshot-count': 1_000 } }),
    );
    expect(own.way).to.not.equal('endpoints');
    await own.stop();
  });

  it('is rejected when it does not respond', async () => {
    const stopped = await startEtcd({ way: 'process' });
    await stopped.stop();
    const list = `${running.endpoint},${stopped.endpoint}`;
    const error = await withEnvironment({ QUEUELOCK_ETCD_ENDPOINTS: list }, () => startEtcd().catch(String));
    expect(error).to.equal(`Error: QUEUELOCK_ETCD_ENDPOINTS: no etcd serves requests at ${stopped.endpoint}`);
  });

  it('is rejected when it is not written as host:port', async () => {
    for (const [list, rule] of [
      ['127.0.0.1', /QUEUELOCK_ZOOKEEPER: endpoint: "127.0.0.1" is not host:port/],
      ['127.0.0.1:99999', /"127.0.0.1:99999" is not host:port with a port from 1 to 65535/],
      [' , ', /names no endpoint/],
    ] as const) {
      const error = await withEnvironment({ QUEUELOCK_ZOOKEEPER: list }, () =>
        startZooKeeper().catch(String),
      );
      expect(error).to.match(rule);
    }
  });

  it('is required when a test allows no other server: the error names the environment variable', async () => {
    const error = await withEnvironment({ QUEUELOCK_ETCD_ENDPOINTS: undefined }, () =>
      startEtcd({ way: 'endpoints' }).catch((reason: unknown) => reason),
    );
    expect(error).to.be.instanceOf(NotHere);
    expect(String(error)).to.match(/QUEUELOCK_ETCD_ENDPOINTS is not set.*apt-get install etcd-server/);
    expect(String(error)).to.not.contain('\n');
  });
});

describe('a server that the harness starts', () => {
  it('is reported with its log, and leaves nothing behind, when its process does not start', async () => {
    const scratch = mkdtempSync(join(tmpdir(), 'queuelock-empty-'));
    const error = await withEnvironment({ QUEUELOCK_SERVER_DATA: scratch }, () =>
      startEtcd({ way: 'process', flags: { 'no-such-flag': 1 } }).catch(String),
    );
    expect(error).to.match(/it ended by itself \(exit code 2\).*\n.*not defined: -no-such-flag/);
    expect(readdirSync(scratch)).to.be.empty;
    rmSync(scratch, { recursive: true });
  });

  it('is started on another port when another process has taken its port', async () => {
    const otherServer = createServer((_, response) => response.end('rival'));
    const server = await startProcess(sayingName('late', (port) => otherServer.listen(port, '127.0.0.1')));
    try {
      const address = otherServer.address();
      if (address === null || typeof address === 'string') throw new Error('the rival does not listen');
      expect(server.endpoint).to.not.equal(`127.0.0.1:${String(address.port)}`);
      expect(await (await fetch(`http://${server.endpoint}`)).text()).to.equal('late');
    } finally {
      await server.stop();
      otherServer.close();
    }
  });
});

/**
 * Returns the program of a web server that replies with `name`. The test passes `takeFirstPort`, which is
 * called with the server's port before the first start. It may occupy the port, as another process could.
 */
function sayingName(name: string, takeFirstPort: (port: number) => void): ServerProgram {
  const source = `require('http').createServer((_, r) => r.end('${name}')).listen(process.argv[1], '127.0.0.1')`;
  let first = true;
  return {
    name,
    ports: 1,
    command: ({ ports: [port] }) => {
      if (first) takeFirstPort(port!);
      first = false;
      return Promise.resolve({ program: process.execPath, args: ['-e', source, String(port)] });
    },
    probe: async ({ ports: [port] }) => {
      const output = await (await fetch(`http://127.0.0.1:${String(port)}`)).text();
      if (output !== name) throw new Error(`${output} answers on port ${String(port)}`);
      return '1.0.0';
    },
  };
}

for (const { name, start, client } of [
  { name: 'etcd', start: () => startEtcd({ way: 'container' }), client: plainEtcd },
  { name: 'ZooKeeper', start: () => startZooKeeper({ way: 'container' }), client: plainZooKeeper },
]) {
  describe(`${name} as a container`, function () {
    this.timeout(180_000);
    let server: ContainerService | undefined;

    before(async function () {
      try {
        server = await start();
        recordRanAgainst('servers for tests', name, server);
      } catch (error) {
        if (!(error instanceof NotHere)) throw error;
        this['skipReason'] = error.message;
        this.skip();
      }
    });

    after(async () => {
      await server?.stop();
      await server?.stop();
    });

    it('starts again with its data after a freeze and a crash', async () => {
      if (server === undefined) throw new Error('there is no server');
      expect(server.version).to.match(/^\d+\.\d+\.\d+$/);
      await client.put(server.endpoint, 'kept');
      await server.freeze();
      const requested = client.ask(server.endpoint).then(() => 'answered');
      const silence = new Promise((resolve) => setTimeout(resolve, 300, 'silent'));
      expect(await Promise.race([requested, silence])).to.equal('silent');
      await server.thaw();
      expect(await requested).to.equal('answered');
      await server.kill();
      expect(await client.ask(server.endpoint).catch(() => 'refused')).to.equal('refused');
      await server.restart();
      expect(await client.get(server.endpoint)).to.equal('kept');
    });
  });
}

describe('a container image that is not available', () => {
  it('causes an error that names the remedy', async function () {
    this.timeout(60_000);
    const error = await withEnvironment({ QUEUELOCK_ETCD_IMAGE: 'queuelock.invalid/none:1' }, () =>
      startEtcd({ way: 'container' }).catch((reason: unknown) => reason),
    );
    expect(error).to.be.instanceOf(NotHere);
    expect(String(error)).to.match(
      /there is no container engine|no image queuelock.invalid\/none:1 and cannot pull/,
    );
  });
});

describe('a shared server', () => {
  it('is one server for all suites, and is recorded in QUEUELOCK_RAN_AGAINST for each suite', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'queuelock-ran-'));
    const file = join(directory, 'ran.jsonl');
    try {
      const [one, other] = await withEnvironment(
        { QUEUELOCK_RAN_AGAINST: file, QUEUELOCK_ETCD_ENDPOINTS: undefined },
        () => Promise.all([sharedEtcd('suite one'), sharedEtcd('suite two')]),
      );
      expect(one).to.equal(other);
      const against = `etcd ${one.version} (${one.way})`;
      const lines = readFileSync(file, 'utf8').trim().split('\n');
      expect(lines.map((line) => JSON.parse(line) as unknown)).to.have.deep.members([
        { what: 'suite one', against },
        { what: 'suite two', against },
      ]);
      await stopShared();
      if (one.way === 'process') {
        expect(existsSync(one.directory)).to.equal(false);
        expect(() => one.pid).to.throw(/not running/);
      }
      expect(await plainEtcd.ask(one.endpoint).catch(() => 'refused')).to.equal('refused');
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
