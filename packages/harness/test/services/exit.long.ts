import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { startMariaDb } from '../../src/services/mariadb-process.ts';
import { startPostgres } from '../../src/services/postgres-process.ts';
import { isAlive } from '../../src/services/process-facts.ts';
import { NotHere } from '../../src/services/service.ts';
import { until } from '../../src/services/until.ts';

/**
 * Code that starts a server: the path of a module relative to this file, and a call of a function that the
 * module exports.
 */
type Start = readonly [module: string, call: string];

const ETCD: Start = ['../../src/services.ts', `startEtcd({ way: 'process' })`];
const DATABASES = [
  {
    name: 'PostgreSQL',
    start: startPostgres,
    from: ['../../src/services/postgres-process.ts', 'startPostgres()'],
  },
  { name: 'MariaDB', start: startMariaDb, from: ['../../src/services/mariadb-process.ts', 'startMariaDb()'] },
] as const;

/**
 * Runs a process that starts a server and reports the server's process id and directory. `lastLine` is the
 * JavaScript code with which the process ends itself.
 */
async function endAfterStart(
  lastLine: string,
  [module, call]: Start = ETCD,
): Promise<{ pid: number; directory: string }> {
  const source = `
    const services = await import(${JSON.stringify(new URL(module, import.meta.url).href)});
    const { pid, directory } = await services.${call};
    console.log(JSON.stringify({ pid, directory }));
    ${lastLine}
  `;
  const parent = spawn(process.execPath, [...process.execArgv, '--input-type=module', '-e', source], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const gone = once(parent, 'exit');
  const [line] = (await once(createInterface(parent.stdout), 'line')) as [string];
  await gone;
  return JSON.parse(line) as { pid: number; directory: string };
}

async function disappears(pid: number): Promise<void> {
  await until(() => (isAlive(pid) ? Promise.reject(new Error('it lives')) : Promise.resolve()), {
    what: `process ${String(pid)} is gone`,
    withinMs: 5_000,
  });
}

describe('a server of a test process', () => {
  const endings = {
    'forgets to stop it': '',
    'exits early': 'process.exit(3);',
    'fails on an exception': 'setImmediate(() => { throw new Error("on purpose"); });',
    'gets SIGINT': 'setInterval(() => {}, 1000); process.kill(process.pid, "SIGINT");',
    'gets SIGTERM': 'setInterval(() => {}, 1000); process.kill(process.pid, "SIGTERM");',
    'gets SIGHUP': 'setInterval(() => {}, 1000); process.kill(process.pid, "SIGHUP");',
  };
  for (const [ending, lastLine] of Object.entries(endings)) {
    it(`ends and leaves no directory when the test process ${ending}`, async () => {
      const { pid, directory } = await endAfterStart(lastLine);
      await disappears(pid);
      expect(existsSync(directory)).to.equal(false);
    });
  }

  it('ends when the test process is killed', async function () {
    if (process.platform !== 'linux') {
      this['skipReason'] = 'only Linux ends a child with its parent';
      this.skip();
    }
    const { pid, directory } = await endAfterStart('process.kill(process.pid, "SIGKILL");');
    try {
      await disappears(pid);
    } finally {
      // Removes the directory of the server, because the killed process could not.
      rmSync(directory, { recursive: true, force: true });
    }
  });

  for (const { name, start, from } of DATABASES) {
    it(`ends when the test process is killed, even if the server runs as another user, as ${name} does`, async function () {
      this.timeout(60_000);
      if (process.platform !== 'linux') {
        this['skipReason'] = 'only Linux ends a child with its parent';
        this.skip();
      }
      try {
        await (await start()).stop();
      } catch (error) {
        if (!(error instanceof NotHere)) throw error;
        this['skipReason'] = error.message;
        this.skip();
      }
      const { pid, directory } = await endAfterStart('process.kill(process.pid, "SIGKILL");', from);
      try {
        await disappears(pid);
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    });
  }
});
