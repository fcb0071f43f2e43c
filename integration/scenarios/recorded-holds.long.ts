// Tests the record of holds on every store. Processes of the command hold, and then release, crash or are
// evicted. A later process must read how each hold ended.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLockClient, type RecordedHold } from '@queuelock/core';
import { expect } from 'chai';
import { filter, firstValueFrom, timeout } from 'rxjs';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { Cli, runCli } from '@queuelock/cli/test/cli-process.ts';
import { sharedConsul, sharedEtcd, sharedRedis } from '@queuelock/harness/services';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { NotHere } from '@queuelock/harness/services/service';
import { zooKeeperStore } from './zookeeper-store.ts';

/** The URL of a server, and a function that stops it unless other tests share it. */
interface Server {
  readonly url: string;
  readonly stop?: () => Promise<void>;
}

const WHAT = 'recorded holds';

const SERVERS: Readonly<Record<string, () => Promise<Server>>> = {
  etcd: async () => ({ url: `etcd://${(await sharedEtcd(WHAT)).endpoint}/recorded` }),
  zookeeper: async () => ({ url: (await zooKeeperStore.share(WHAT)).url() }),
  consul: async () => ({ url: `consul://${(await sharedConsul(WHAT)).endpoint}/recorded` }),
  redis: async () => ({ url: `redis://${(await sharedRedis(WHAT)).endpoint}` }),
  async postgres() {
    const server = await startPostgres();
    return { url: postgresUrl(server), stop: () => server.stop() };
  },
  async mysql() {
    const server = await startMariaDb();
    return { url: `mysql://root@${server.endpoint}/test`, stop: () => server.stop() };
  },
  async sqlite() {
    const directory = mkdtempSync(join(tmpdir(), 'queuelock-recorded-'));
    const stop = async (): Promise<void> => rmSync(directory, { recursive: true });
    return { url: `sqlite:${join(directory, 'locks.db')}`, stop };
  },
};

const NAME = 'recorded/nightly';
const RECORD = ['--record', '20', '--json'];

for (const [name, start] of Object.entries(SERVERS)) {
  describe(`recorded holds, with ${name}`, function () {
    this.timeout(180_000);
    let server: Server;
    let stop: Server['stop'];
    const started: Cli[] = [];

    before(async function () {
      try {
        server = await start();
        stop = server.stop;
      } catch (error) {
        if (!(error instanceof NotHere)) throw error;
        this['skipReason'] = error.message;
        this.skip();
      }
    });
    after(async () => {
      for (const { child } of started) child.kill('SIGKILL');
      await stop?.();
    });

    const contend = (id: string, ...args: string[]): Cli => {
      const env = { QUEUELOCK_URL: server.url };
      const cli = new Cli(['contend', NAME, '--id', id, ...RECORD, ...args], env);
      started.push(cli);
      return cli;
    };
    const run = (...args: string[]) => runCli(args, { QUEUELOCK_URL: server.url });

    /**
     * Resolves when another client reads that the latest recorded hold belongs to this owner and has not
     * ended.
     */
    async function untilHeldBy(owner: string): Promise<void> {
      await using client = createLockClient(await backendFromUrl(server.url));
      const held$ = client.recordedHolds(NAME).pipe(
        filter(({ holds }) => isHeldBy(holds.at(-1), owner)),
        timeout(60_000),
      );
      await firstValueFrom(held$, { defaultValue: undefined });
    }

    it('are readable after all processes have ended', async () => {
      expect(await contend('released', '--hold', '300').ending).to.include({ code: 0, stderr: '' });
      const crashed = contend('crashed', '--hold', '600000', '--ttl', name === 'consul' ? '10' : '3');
      await untilHeldBy('crashed');
      crashed.child.kill('SIGKILL');
      await once(crashed.child, 'exit');
      const evicted = contend('evicted', '--hold', '600000');
      await untilHeldBy('evicted');
      const token = (await evicted.until('acquired'))[name === 'zookeeper' ? 'zxid' : 'token'] ?? '';
      const kick = await run('kick', NAME, '--token', token, '--reason', 'hangs', '--id', 'operator');
      expect(kick).to.include({ code: 0 });
      await evicted.ending;
      expect(await contend('last').ending).to.include({ code: 0 });

      const { code, stdout } = await run('history', NAME, '--json');
      expect(code).to.equal(0);
      const holds = linesOf(stdout).filter(({ ev }) => ev === 'hold');
      expect(holds.map(({ owner, status, reason }) => [owner, status, reason])).to.deep.equal([
        ['released', 'ended', 'released'],
        ['crashed', 'unrecorded', undefined],
        ['evicted', 'ended', 'entry-removed'],
        ['last', 'ended', 'released'],
      ]);
      expect(holds[0]).to.have.property('heldMs').that.is.within(300, 30_000);
      expect(holds[0]).to.have.property('pid', started[0]?.child.pid);
      expect(holds[1]).to.have.property('endedAtLatest', holds[2]?.['beganAt']);
      expect(holds[2]).to.have.deep.property('eviction', { by: 'operator', reason: 'hangs' });
      const tokens = holds.map((hold) => BigInt(String(hold['token'])));
      expect(tokens).to.deep.equal([...tokens].sort((a, b) => (a < b ? -1 : 1)));
      expect(await run('who', NAME)).to.include({ code: 3 });

      expect(await run('history', NAME, '--forget')).to.include({ code: 0 });
      expect((await run('history', NAME)).stdout).to.match(/# no hold is recorded/);
    });
  });
}

function isHeldBy(hold: RecordedHold | undefined, owner: string): boolean {
  return hold?.owner === owner && hold.status === 'held';
}

function linesOf(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
}
