import { once } from 'node:events';
import { createLockClient, type LockClient, type Ownership } from '@queuelock/core';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { Cli, runCli } from '@queuelock/cli/test/cli-process.ts';
import { sharedConsul, sharedEtcd } from '@queuelock/harness/services';
import { zooKeeperStore } from './zookeeper-store.ts';

type Reported = Readonly<Record<string, unknown>>;

function reports(stdout: string): Reported[] {
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Reported);
}

export async function untilPrinted(cli: Cli, text: RegExp): Promise<void> {
  while (!text.test(cli.stdout)) {
    if (cli.child.exitCode !== null) throw new Error(`ended without ${String(text)}: ${cli.stdout}`);
    await Promise.race([once(cli.child.stdout!, 'data'), cli.ending]);
  }
}

const QUEUES = {
  etcd: async () => `etcd://${(await sharedEtcd('cli views')).endpoint}/cli-views`,
  zookeeper: async () => (await zooKeeperStore.share('cli views')).url(),
  consul: async () => `consul://${(await sharedConsul('cli views')).endpoint}/cli-views`,
};
const Q = 'cli-views/one';

/** Defines tests of the commands that show queues, on a real server. */
export function describeViews(server: keyof typeof QUEUES): void {
  describe(server, () => {
    let url: string;
    let holders: LockClient;
    let waiters: LockClient;
    let hold: Ownership;
    let lost: Promise<unknown>;
    const clients: LockClient[] = [];
    const connect = async (owner: string): Promise<LockClient> => {
      const client = createLockClient(await backendFromUrl(url), { owner });
      clients.push(client);
      return client;
    };
    const queued = async (
      client: LockClient,
      name: string,
      holding: readonly Ownership[] = [],
    ): Promise<void> => {
      const claim$ = client.claim(name, { holding });
      await new Promise<void>((resolve) => {
        claim$.subscribe(({ status }) => {
          if (status === 'queued' || status === 'held') resolve();
        });
      });
    };
    const run = (...args: string[]) => runCli(args, { QUEUELOCK_URL: url });

    before(async () => {
      url = await QUEUES[server]();
      [holders, waiters] = [await connect('holder'), await connect('waiter\u001B[2J')];
      hold = await holders.acquire(Q);
      lost = once(hold.signal, 'abort');
      hold.requests$.subscribe((request) => void request.decline('in the middle of something'));
      await queued(waiters, Q);
    });
    after(() => Promise.all(clients.map((client) => client.close())));

    it('the commands ls and who show the queues and their entries', async () => {
      const [ls, who] = await Promise.all([run('ls', 'cli-views/', '--json'), run('who', Q)]);
      expect(reports(ls.stdout)).to.deep.equal([{ name: Q, depth: 2, front: String(hold.order) }]);
      const holder = `0 +holds +holder .* ${String(hold.token)}`;
      expect(who.stdout).to.match(new RegExp(`${holder}\\n +1 +waits +waiter\\\\u001b\\[2J `));
    });

    // Tests the following commands on a single store only, since they depend only on the core.
    const itOnce = server === 'etcd' ? it : (): void => undefined;

    itOnce('the command who reports an empty queue by its exit code', async () => {
      expect(await run('who', 'cli-views/none')).to.include({ code: 3 });
    });

    itOnce('ask passes a request to the holder, and leaves the queue', async () => {
      const { code, stdout } = await run('ask', Q, '--reason', 'a fix', '--by', '20000', '--json');
      expect(code).to.equal(69);
      expect(reports(stdout)).to.deep.equal([
        { name: Q, answer: 'declined', reason: 'in the middle of something' },
      ]);
      const live$ = holders.watch(Q).pipe(filter(({ status }) => status === 'live'));
      const state = await firstValueFrom(live$, { defaultValue: undefined });
      expect(state?.entries).to.have.length(2);
    });

    it('the command kick removes only the entry with the given token, and watch and history show the removal', async () => {
      const watch = new Cli(['watch', Q, '--json'], { QUEUELOCK_URL: url });
      const wrong = await run('kick', Q, '--token', String(hold.token + 1_000_000n), '--reason', 'x');
      expect(wrong).to.include({ code: 3, stdout: '' });
      expect(hold.held).to.equal(true);
      await untilPrinted(watch, /"position":1/);
      const kick = await run(
        'kick',
        Q,
        '--token',
        String(hold.token),
        '--reason',
        'hangs',
        '--id',
        'operator',
      );
      expect(kick.stdout).to.contain('removed holder, which held');
      await lost;
      await untilPrinted(watch, /"ev":"granted"/);
      watch.child.kill('SIGINT');
      expect(await watch.ending).to.include({ code: 130 });
      // Ignores events about changes of an entry's label, which its holder makes.
      const moves = reports(watch.stdout).filter(({ ev }) => ev !== 'changed');
      const seen = moves.map(({ ev, owner }) => `${String(ev)} ${String(owner)}`);
      expect(seen).to.deep.equal([
        'present holder',
        'present waiter\u001B[2J',
        'left holder',
        'granted waiter\u001B[2J',
      ]);
      const events = reports((await run('history', Q, '--json')).stdout);
      if (server === 'etcd')
        expect(events.find(({ ev, held }) => ev === 'left' && held === true)).to.have.nested.property(
          'eviction.reason',
          'hangs',
        );
      else expect(events[0]).to.include({ ev: 'gap' });
      expect(events.findLast(({ ev }) => ev === 'granted')).to.include({ owner: 'waiter\u001B[2J' });
    });

    itOnce('deadlocks finds a cycle of waiters', async () => {
      const [a, b] = [await holders.acquire('cli-views/a'), await waiters.acquire('cli-views/b')];
      await Promise.all([queued(holders, 'cli-views/b', [a]), queued(waiters, 'cli-views/a', [b])]);
      const { code, stdout } = await run('deadlocks', 'cli-views/', '--json');
      expect(code).to.equal(1);
      expect(reports(stdout)[0]).to.have.nested.property('waits.length', 2);
    });

    it('the command doctor finds no error in the servers', async () => {
      const findings = reports((await run('doctor', '--prefix', 'cli-views/one', '--json')).stdout);
      expect(findings.filter(({ level }) => level === 'error')).to.deep.equal([]);
      const queues = findings.find(({ about }) => about === 'queues');
      expect(queues?.['text']).to.match(/^1 in use, entries: /);
    });
  });
}
