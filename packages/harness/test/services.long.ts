import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import {
  etcdMetrics,
  recordRanAgainst,
  startEtcd,
  startZooKeeper,
  sumOf,
  zkFourLetter,
} from '../src/services.ts';
import { descendantsOf, runs, stateOf } from '../src/clusters/machine-facts.ts';
import { plainEtcd, plainZooKeeper } from '../src/services/plain-clients.ts';
import { isAlive, listeningOf } from '../src/services/process-facts.ts';
import { startPostgres } from '../src/services/postgres-process.ts';
import type { ProcessService } from '../src/services/service.ts';
import { until } from '../src/services/until.ts';

const KINDS = [
  { name: 'etcd', start: () => startEtcd({ way: 'process' }), client: plainEtcd },
  { name: 'ZooKeeper', start: () => startZooKeeper({ way: 'process' }), client: plainZooKeeper },
];

for (const { name, start, client } of KINDS) {
  describe(`a server of ${name} that runs as a process`, () => {
    let server: ProcessService;

    beforeEach(async () => {
      server = await start();
      recordRanAgainst('servers for tests', name, server);
    });

    afterEach(async () => {
      await server.stop();
    });

    it('responds on its endpoint with its version', async () => {
      await client.put(server.endpoint, 'hello');
      expect(await client.get(server.endpoint)).to.equal('hello');
      expect(server.version).to.match(/^\d+\.\d+\.\d+$/);
      expect(server.endpoints).to.deep.equal([server.endpoint]);
    });

    it('listens on 127.0.0.1 only', function () {
      if (process.platform !== 'linux') {
        this['skipReason'] = 'open ports are read from /proc, which only Linux has';
        this.skip();
      }
      const open = listeningOf(server.pid);
      expect(open).to.not.be.empty;
      for (const address of open) expect(address).to.match(/0100007F:/);
    });

    it('does not respond while it is frozen and continues when it is thawed', async () => {
      await server.freeze();
      const requested = client.ask(server.endpoint).then(() => 'answered');
      const silence = new Promise((resolve) => setTimeout(resolve, 300, 'silent'));
      expect(await Promise.race([requested, silence])).to.equal('silent');
      await server.thaw();
      expect(await requested).to.equal('answered');
    });

    it('keeps its data and its port over a restart', async () => {
      const { pid, endpoint } = server;
      await client.put(endpoint, 'kept');
      await server.restart();
      expect(server.pid).to.not.equal(pid);
      expect(server.endpoint).to.equal(endpoint);
      expect(await client.get(endpoint)).to.equal('kept');
    });

    it('ends when it is killed, and a restart serves its data again', async () => {
      await client.put(server.endpoint, 'durable');
      const { pid } = server;
      await server.kill();
      expect(isAlive(pid)).to.equal(false);
      expect(() => server.pid).to.throw(/is not running/);
      expect(await client.ask(server.endpoint).catch(() => 'refused')).to.equal('refused');
      await server.restart();
      expect(await client.get(server.endpoint)).to.equal('durable');
    });

    it('leaves no process and no directory when it is stopped, even if it is frozen or stopped twice', async () => {
      const { pid, directory } = server;
      await server.freeze();
      await server.stop();
      await server.stop();
      expect(isAlive(pid)).to.equal(false);
      expect(existsSync(directory)).to.equal(false);
    });

    it('keeps its output in the file server.log of its directory', () => {
      expect(readFileSync(`${server.directory}/server.log`, 'utf8')).to.contain(server.version);
    });
  });
}

describe('a server of several processes', () => {
  for (const end of ['stop', 'kill'] as const)
    it(`leaves none of its processes behind when it ends by ${end}, even if all were frozen`, async () => {
      const server = await startPostgres();
      try {
        await server.freeze();
        const all = [server.pid, ...descendantsOf(server.pid)];
        expect(all).to.have.length.greaterThan(1);
        expect(new Set(all.filter(runs).map(stateOf))).to.deep.equal(new Set(['T']));
        await server[end]();
        await until(async () => expect(all.filter(runs)).to.deep.equal([]), {
          what: 'all have ended',
          withinMs: 10_000,
        });
      } finally {
        await server.stop();
      }
    });
});

describe('settings of a server', () => {
  it('are passed to etcd as flags', async () => {
    const etcd = await startEtcd({ way: 'process', flags: { 'quota-backend-bytes': 16_777_216 } });
    try {
      const metrics = await etcdMetrics(etcd.endpoint);
      expect(sumOf(metrics, 'etcd_server_quota_backend_bytes')).to.equal(16_777_216);
    } finally {
      await etcd.stop();
    }
  });

  it('are passed to ZooKeeper as lines of zoo.cfg and as Java properties', async () => {
    const settings = { tickTime: 300, minSessionTimeout: 700, 'znode.container.checkIntervalMs': 500 };
    const zooKeeper = await startZooKeeper({ way: 'process', settings });
    try {
      const conf = await zkFourLetter(zooKeeper.endpoint, 'conf');
      expect(conf).to.contain('tickTime=300').and.to.contain('minSessionTimeout=700');
      const log = readFileSync(`${zooKeeper.directory}/server.log`, 'utf8');
      expect(log).to.contain('checkIntervalMs=500');
    } finally {
      await zooKeeper.stop();
    }
  });

  it('are refused if they concern addresses or directories', async () => {
    expect(await startEtcd({ flags: { 'data-dir': '/srv' } }).catch(String)).to.match(
      /flags: "data-dir" is set by/,
    );
    expect(await startEtcd({ flags: { '--snapshot-count': 5 } }).catch(String)).to.match(/without dashes/);
    expect(await startZooKeeper({ settings: { clientPort: 1 } }).catch(String)).to.match(
      /"clientPort" is set by/,
    );
    expect(await startZooKeeper({ settings: { tickTime: '1\nx=2' } }).catch(String)).to.match(/line break/);
  });
});

describe('metrics of a server', () => {
  it('count the requests to etcd by method', async () => {
    const etcd = await startEtcd({ way: 'process' });
    try {
      const ranges = async (): Promise<number> =>
        sumOf(await etcdMetrics(etcd.endpoint), 'grpc_server_handled_total', { grpc_method: 'Range' });
      const before = await ranges();
      for (let n = 0; n < 3; n += 1) await plainEtcd.get(etcd.endpoint);
      expect((await ranges()) - before).to.equal(3);
    } finally {
      await etcd.stop();
    }
  });

  it('are read from ZooKeeper by four-letter words', async () => {
    const zooKeeper = await startZooKeeper({ way: 'process' });
    try {
      expect(await zkFourLetter(zooKeeper.endpoint, 'ruok')).to.equal('imok');
      expect(await zkFourLetter(zooKeeper.endpoint, 'mntr')).to.match(/^zk_znode_count\t\d+$/m);
    } finally {
      await zooKeeper.stop();
    }
  });
});
