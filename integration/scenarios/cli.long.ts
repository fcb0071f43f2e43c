import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { HistoryEvent } from '@queuelock/cli/src/demo/history.ts';
import type { Verdict } from '@queuelock/cli/src/demo/judge.ts';
import { Cli, parseLines, runCli, type Line } from '@queuelock/cli/test/cli-process.ts';
import { safely } from '@queuelock/conformance';
import { expect } from 'chai';
import { startProxy } from '@queuelock/harness/faults';
import { startEtcd } from '@queuelock/harness/services';
import { describeCommand } from './cli-commands.ts';
import { layCommandGround, servers } from './contending.ts';
import { expectSafe, safeVerdict } from './verdict.ts';

const CONTENDERS = 8;

describe('the command queuelock on a real server', function () {
  this.timeout(60_000);

  describeCommand('zookeeper');

  for (const [server, urlOf] of Object.entries(servers)) {
    describe(server, () => {
      const ground = layCommandGround(urlOf);
      const { contend } = ground;

      it(`the command contend grants the lock to ${String(CONTENDERS)} processes in the order in which they joined`, async () => {
        const holder = contend('fifo', '--id', 'holder', '--hold', '600000');
        await holder.until('acquired');
        const waiters: Cli[] = [];
        for (let number = 1; number <= CONTENDERS; number += 1) {
          const waiter = contend('fifo', '--id', `w${String(number)}`, '--hold', '10');
          await waiter.until('enqueued');
          waiters.push(waiter);
        }
        holder.child.kill('SIGTERM');
        const endings = await Promise.all([holder, ...waiters].map(({ ending }) => ending));
        expect(endings.map(({ code }) => code)).to.deep.equal([143, ...waiters.map(() => 0)]);
        const history = endings.flatMap(({ stdout }) => parseLines(stdout)) as HistoryEvent[];
        const { violations, grants, handOffs } = safeVerdict(history);
        expect({ violations, grants, handOffs }).to.deep.equal({
          violations: [],
          grants: 1 + CONTENDERS,
          handOffs: CONTENDERS,
        });
        const granted = history
          .filter(({ ev }) => ev === 'acquired')
          .sort((a, b) => Number(BigInt(a.t) - BigInt(b.t)))
          .map(({ id }) => id);
        safely(() => expect(granted).to.deep.equal(['holder', ...waiters.map((_, i) => `w${i + 1}`)]));
      });

      it('the command demo ends with the verdict OK when each contender is a process', async () => {
        const { code, stdout, tookMs } = await runCli(['demo', '--json', '--contenders', '4'], ground.env);
        const verdict = parseLines(stdout).at(-1) as Verdict & Line;
        expectSafe(verdict);
        expect(verdict).to.deep.include({
          ev: 'verdict',
          ok: true,
          violations: [],
          cancelled: 1,
          expired: 1,
        });
        expect(code).to.equal(0);
        expect(tookMs).to.be.lessThan(20_000);
      });
    });
  }

  it('`queuelock run` reports an unreachable server in one line within the connect timeout, and starts no command', async () => {
    await using proxy = await startProxy('127.0.0.1:1');
    proxy.refuse();
    const url = `etcd://user:secret@${proxy.endpoint}`;
    const ending = await runCli(['run', 'job', '--', 'echo', 'ran'], { QUEUELOCK_URL: url });
    expect(ending).to.include({ code: 1, stdout: '' });
    expect(ending.stderr)
      .to.match(/^queuelock: [^\n]*UNAVAILABLE[^\n]*\n$/)
      .and.not.contain('secret');
    expect(ending.stderr).to.contain(proxy.endpoint);
    // The command must end within its connect timeout of five seconds and the time that it takes to start
    // from its sources.
    expect(ending.tookMs).to.be.lessThan(9_000);
  });

  describe('with a server that freezes', () => {
    const TTL_MS = 5_000;

    it('`queuelock run` kills a command that ignores SIGTERM, with its child processes, before the lock can be lost', async () => {
      const etcd = await startEtcd({ way: 'process' });
      const proxy = await startProxy(etcd.endpoint);
      const sentAt: number[] = [];
      proxy.onClientData = () => sentAt.push(Date.now());
      try {
        const cli = new Cli(['run', 'job', '--ttl', '5', '--grace', '500', '--', ...stubborn()], {
          QUEUELOCK_URL: `etcd://${proxy.endpoint}`,
        });
        while (new Set(signsOfLife(cli).map(({ pid }) => pid)).size < 2)
          await once(cli.child.stdout!, 'data');
        const renewedAt = await quietAfterRenewal(sentAt);
        await etcd.freeze();
        // Waits for the end of the output, which comes when the program and its child process have ended.
        const { code, stderr } = await cli.ending;
        const last = Math.max(...signsOfLife(cli).map(({ at }) => at));
        safely(() => expect(last - renewedAt).to.be.lessThan(TTL_MS));
        // `queuelock run` must not kill its command at the first overdue heartbeat, because the latest
        // heartbeat proves the lock for most of the TTL.
        expect(last - renewedAt).to.be.greaterThan(TTL_MS / 2);
        expect(code).to.equal(75);
        expect(stderr).to.match(/^queuelock: [^\n]*SIGTERM[^\n]*\nqueuelock: [^\n]*SIGKILL[^\n]*\n$/);
      } finally {
        await etcd.thaw();
        await proxy.stop();
        await etcd.stop();
      }
    });

    it('`queuelock run` lets a command that handles SIGTERM clean up, and still exits with 75', async () => {
      const etcd = await startEtcd({ way: 'process' });
      try {
        const trap = `trap 'echo tidy; exit 0' TERM; echo up; while :; do sleep 0.05; done`;
        const cli = new Cli(['run', 'job', '--ttl', '5', '--', 'sh', '-c', trap], {
          QUEUELOCK_URL: `etcd://${etcd.endpoint}`,
        });
        while (!cli.stdout.includes('up')) await once(cli.child.stdout!, 'data');
        await etcd.freeze();
        const { code, stdout, stderr } = await cli.ending;
        expect({ code, stdout }).to.deep.equal({ code: 75, stdout: 'up\ntidy\n' });
        expect(stderr).to.not.contain('SIGKILL');
      } finally {
        await etcd.thaw();
        await etcd.stop();
      }
    });
  });
});

/**
 * Returns a program that ignores SIGTERM, and has a child process that ignores it too. Both print their
 * process id and the time every 20 ms.
 */
function stubborn(): string[] {
  const sign = "console.log(process.pid + ' ' + Date.now())";
  const stay = `process.on('SIGTERM', () => {}); setInterval(() => ${sign}, 20);`;
  const start =
    "require('node:child_process').spawn(process.execPath, ['-e', process.env.STAY], { stdio: 'inherit' });";
  return ['env', `STAY=${stay}`, process.execPath, '-e', `${start} ${stay}`];
}

function signsOfLife({ stdout }: Cli): { pid: number; at: number }[] {
  return [...stdout.matchAll(/^(\d+) (\d+)$/gm)].map(([, pid, at]) => ({ pid: Number(pid), at: Number(at) }));
}

/**
 * Waits until a heartbeat was sent and no data has followed for 300 ms, so that its response has arrived.
 * Resolves with the time when the heartbeat was sent.
 */
async function quietAfterRenewal(sentAt: readonly number[]): Promise<number> {
  const seen = sentAt.length;
  while (sentAt.length === seen || Date.now() - sentAt.at(-1)! < 300) await pause(5);
  return sentAt[seen]!;
}
