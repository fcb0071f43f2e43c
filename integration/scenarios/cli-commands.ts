import { safely } from '@queuelock/conformance';
import { createLockClient } from '@queuelock/core';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { runCli } from '@queuelock/cli/test/cli-process.ts';
import { layCommandGround, servers } from './contending.ts';

/** Defines tests of the command `queuelock` on a real server. */
export function describeCommand(server: keyof typeof servers): void {
  describe(server, () => {
    const ground = layCommandGround(servers[server]);
    const { contend } = ground;

    it('leaves no entry when a waiter and a holder get SIGTERM', async () => {
      const holder = contend('sigterm', '--hold', '600000');
      await holder.until('acquired');
      const waiter = contend('sigterm');
      await waiter.until('enqueued');
      waiter.child.kill('SIGTERM');
      expect(await waiter.ending).to.include({ code: 143, stderr: '' });
      expect(waiter.events.at(-1)).to.include({
        ev: 'cancelled',
        key: (await waiter.until('enqueued')).key,
      });
      holder.child.kill('SIGTERM');
      expect(await holder.ending).to.include({ code: 143, stderr: '' });
      expect(holder.events.at(-1)).to.include({ ev: 'released' });
      expect(await entriesOf(ground.env.QUEUELOCK_URL, 'sigterm')).to.deep.equal([]);
    });

    it("`queuelock run` passes the token of its grant to the command, and exits with the command's code", async () => {
      const tokens: bigint[] = [];
      for (const code of [0, 7]) {
        const command = ['sh', '-c', `echo $QUEUELOCK_TOKEN $QUEUELOCK_NAME; exit ${String(code)}`];
        const ending = await runCli(['run', 'job', '--', ...command], ground.env);
        expect(ending).to.include({ code, stderr: '' });
        expect(ending.stdout).to.match(/^\d+ job\n$/);
        tokens.push(BigInt(ending.stdout.split(' ')[0]!));
      }
      safely(() => expect(tokens[1]! > tokens[0]!).to.equal(true));
    });

    it('`queuelock run` passes none of its own sockets to its command', async function () {
      if (process.platform !== 'linux') {
        this['skipReason'] = 'only Linux shows the descriptors of a process in /proc';
        this.skip();
      }
      const { code, stdout } = await runCli(
        ['run', 'descriptors', '--', 'ls', '-l', '/proc/self/fd'],
        ground.env,
      );
      expect(code).to.equal(0);
      const sockets = [...stdout.matchAll(/ (\d+) -> socket:/g)].map(([, fd]) => Number(fd));
      expect(sockets.filter((fd) => fd > 2)).to.deep.equal([]);
    });

    it('`queuelock run` does not start the command when the lock is not free in time', async () => {
      const holder = contend('busy', '--hold', '600000');
      await holder.until('acquired');
      // Waits for 3 s, so that `queuelock run` can join the queue. Without joining, it could not know that
      // the lock is held.
      const ending = await runCli(['run', 'busy', '--wait', '3000', '--', 'echo', 'ran'], ground.env);
      expect(ending).to.include({ code: 69, stdout: '' });
      expect(ending.stderr).to.match(/^queuelock: \[TIMEOUT\] [^\n]*--wait[^\n]*\n$/);
      const requested = await runCli(['run', 'busy', '--try', '--', 'echo', 'ran'], ground.env);
      expect(requested).to.include({ code: 69, stdout: '' });
      expect(requested.stderr).to.equal('queuelock: another client holds "busy", and --try does not wait\n');
    });
  });
}

/** Reads the keys that a queue has on the server at present. */
export async function entriesOf(url: string, name: string): Promise<string[]> {
  const { fromUrl } = await (url.startsWith('zk:')
    ? import('@queuelock/zookeeper')
    : import('@queuelock/etcd'));
  await using observer = createLockClient(fromUrl(url));
  const live$ = observer.watch(name).pipe(filter(({ status }) => status === 'live'));
  const state = await firstValueFrom(live$, { defaultValue: undefined });
  if (!state) throw new Error('the client closed before the queue was seen');
  return state.entries.map(({ key }) => key);
}
