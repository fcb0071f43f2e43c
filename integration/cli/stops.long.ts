import { once } from 'node:events';
import { Cli } from '@queuelock/cli/test/cli-process.ts';
import { createLockClient, type LockClient } from '@queuelock/core';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { stores } from '../scenarios/stores.ts';
import type { Site } from '../scenarios/store.ts';
import { until } from '@queuelock/harness/services/until';

const WITHIN_MS = 30_000;

for (const store of stores) {
  describe(`a queuelock process over ${store.name}`, function () {
    this.timeout(90_000);
    let site: Site;
    let proxy: TcpProxy;
    let other: LockClient;
    const started: Cli[] = [];

    before(async () => {
      site = await store.share('cli stops');
    });
    beforeEach(async () => {
      proxy = await startProxy(site.endpoint);
      other = createLockClient(site.backend());
    });
    afterEach(async () => {
      for (const cli of started.splice(0)) {
        cli.child.kill('SIGKILL');
        await cli.ending;
      }
      await other.close();
      await proxy.stop();
    });

    const start = (...args: string[]): Cli => {
      const env = { QUEUELOCK_URL: site.url(proxy.endpoint) };
      const cli = new Cli([...args.slice(0, 2), '--ttl', String(site.ttlMs / 1_000), ...args.slice(2)], env);
      started.push(cli);
      return cli;
    };
    const run = (name: string): Cli => start('run', name, '--', 'sh', '-c', 'echo up; exec sleep 600');
    const untilEntries = (name: string, count: number): Promise<void> =>
      until(async () => expect(await site.entries(name)).to.have.length(count), {
        what: `${name} has ${String(count)} entries`,
        withinMs: WITHIN_MS,
      }).then(() => undefined);
    const untilOut = async ({ child, ending }: Cli): Promise<void> => {
      await Promise.race([once(child.stdout!, 'data'), ending]);
    };

    it('leaves no entry when a signal ends it, at any moment', async () => {
      await other.acquire('stop-in-line');
      const moments: Record<string, (cli: Cli) => Promise<unknown>> = {
        'stop-at-start': ({ child }) => once(child, 'spawn'),
        'stop-connecting': () =>
          until(async () => expect(proxy.accepted).to.be.greaterThan(0), {
            what: 'a connection',
            withinMs: WITHIN_MS,
          }),
        'stop-in-line': () => untilEntries('stop-in-line', 2),
        'stop-holding': untilOut,
      };
      const endings = Object.entries(moments).map(async ([name, moment], number) => {
        const signal = number % 2 === 0 ? 'SIGINT' : 'SIGTERM';
        const cli = run(name);
        await moment(cli);
        cli.child.kill(signal);
        const ending = await cli.ending;
        // The signal handler of the command `queuelock` ends the process. If it is not installed yet, the
        // signal itself ends the process.
        const number128 = signal === 'SIGINT' ? 130 : 143;
        expect([ending.signal, ending.code], name).to.include(ending.signal === null ? number128 : signal);
        await untilEntries(name, name === 'stop-in-line' ? 1 : 0);
      });
      await Promise.all(endings);
    });

    it('leaves no entry when the reader of its output closes the pipe', async () => {
      const cli = start('contend', 'stop-reader', '--json', '--count', '1000000');
      await cli.until('acquired');
      cli.child.stdout!.destroy();
      const [code] = (await once(cli.child, 'exit')) as [number];
      expect(code).to.equal(141);
      await untilEntries('stop-reader', 0);
    });

    it('leaves its entry to expire with the TTL when the server cannot be reached', async () => {
      await other.acquire('stop-cut-in-line');
      const waiting = run('stop-cut-in-line');
      const holding = run('stop-cut-holding');
      await Promise.all([untilEntries('stop-cut-in-line', 2), untilOut(holding)]);
      proxy.toServer.blackhole();
      proxy.toClient.blackhole();
      waiting.child.kill('SIGTERM');
      holding.child.kill('SIGINT');
      const endings = await Promise.all([waiting.ending, holding.ending]);
      expect(endings.map(({ code }) => code)).to.deep.equal([143, 130]);
      await Promise.all([untilEntries('stop-cut-in-line', 1), untilEntries('stop-cut-holding', 0)]);
    });
  });
}
