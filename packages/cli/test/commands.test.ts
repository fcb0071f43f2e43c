import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Cli, parseLines, runCli } from './cli-process.ts';
import { expectGoodDemo } from './good-demo.ts';

const MEMORY = ['--backend', 'memory:'];
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

describe('the command queuelock', () => {
  it('has help with examples for itself and for a command', async () => {
    for (const args of [[], ['run']]) {
      const { code, stdout, stderr } = await runCli([...args, '--help']);
      expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
      expect(stdout).to.match(/Examples:\n {2}\$ queuelock /);
    }
  });

  it('tells its version', async () => {
    expect(await runCli(['--version'])).to.include({ code: 0, stdout: `${version}\n` });
  });

  const wrong: Record<string, { args: string[]; says: RegExp }> = {
    'an unknown command': { args: ['rnu'], says: /unknown command 'rnu'/ },
    'a name that is missing': { args: ['contend'], says: /missing required argument 'name'/ },
    'no backend': { args: ['ls'], says: /--backend URL, set QUEUELOCK_URL/ },
    'an unknown backend': {
      args: ['contend', 'a', '--backend', 'oracle://user:secret@h:1'],
      says: /unknown backend oracle:; known are memory:, sqlite:file, etcd:\/\/host:port, etcds:\/\/host:port, zk:\/\/host:port, zks:\/\/host:port, redis:\/\/host:port, rediss:\/\/host:port, postgres:\/\/host:port\/database, mysql:\/\/host:port\/database$/m,
    },
    'a backend without a scheme': {
      args: ['contend', 'a', '--backend', 'secret'],
      says: /needs a scheme; known are memory:/,
    },
    'a number out of its range': {
      args: ['contend', 'a', ...MEMORY, '--hold', '-1'],
      says: /option '--hold <ms>' argument '-1' is invalid. It must be a whole number from 0 to 86400000/,
    },
    'a grace period that leaves no time': {
      args: ['run', 'a', ...MEMORY, '--ttl', '4', '--grace', '2001', '--', 'true'],
      says: /'--grace <ms>' argument '2001' .* at most half of --ttl \(2000 ms\)/,
    },
    'a TTL that its backend cannot prove': {
      args: ['run', 'a', '--backend', 'zk://user:secret@h', '--ttl', '10', '--', 'true'],
      says: /--ttl 10 is too short: zookeeper needs at least 14 seconds: \(syncLimit 5 \+ 2\) x tickTime 2000 ms; set tickTimeMs/,
    },
    'a command with options that is not behind --': {
      args: ['run', 'a', ...MEMORY, 'ls', '-l'],
      says: /come after --/,
    },
    'a semaphore of readers': {
      args: ['run', 'a', '--read', '--semaphore', '2', '--', 'true'],
      says: /cannot be used with/,
    },
    'a profile that is not there': { args: ['leader', 'a', '--profile', 'x'], says: /no profile "x"/ },
    'a name that no store can hold': { args: ['contend', '', ...MEMORY], says: /name .* not empty/ },
    'too few contenders': { args: ['demo', '--contenders', '2'], says: /from 3 to 12/ },
  };
  for (const [what, { args, says }] of Object.entries(wrong)) {
    it(`refuses ${what} in one line, with exit code 2`, async () => {
      const { code, stdout, stderr } = await runCli(args);
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^queuelock: [^\n]+\n$/)
        .and.match(says);
      expect(stderr).to.not.contain('secret');
    });
  }
});

describe('queuelock contend', () => {
  it('prints a history with exactly the promised fields', async () => {
    const { code, stdout, stderr } = await runCli([
      'contend',
      'stock',
      ...MEMORY,
      '--id',
      'me',
      '--count',
      '2',
      '--json',
    ]);
    expect({ code, stderr }).to.deep.equal({ code: 0, stderr: '' });
    const lines = parseLines(stdout);
    expect(lines.map(({ ev, n }) => `${ev} ${String(n)}`)).to.deep.equal(
      [1, 2].flatMap((n) =>
        ['requesting', 'enqueued', 'acquired', 'released'].map((ev) => `${ev} ${String(n)}`),
      ),
    );
    expect(lines.slice(0, 4).map((line) => Object.keys(line).join())).to.deep.equal([
      't,id,ev,name,n',
      't,id,ev,name,key,token,n',
      't,id,ev,name,key,token,n',
      't,id,ev,name,key,token,n,t_done',
    ]);
    const stamps = lines.flatMap(({ t, t_done }) => (t_done === undefined ? [t] : [t, t_done])).map(BigInt);
    expect(stamps).to.deep.equal([...stamps].sort((a, b) => (a < b ? -1 : 1)));
    expect(lines.every(({ id, name }) => id === 'me' && name === 'stock')).to.equal(true);
  });

  it('without a backend shares a file with the others of its user', async () => {
    const state = mkdtempSync(join(tmpdir(), 'queuelock-state-'));
    const env = { XDG_STATE_HOME: state };
    const holder = new Cli(['contend', 'stock', '--json', '--hold', '60000'], env);
    await holder.until('acquired');
    const waiter = new Cli(['contend', 'stock', '--json'], env);
    await waiter.until('enqueued');
    holder.child.kill('SIGTERM');
    expect(await waiter.ending).to.include({ code: 0, stderr: '' });
    await holder.ending;
    rmSync(state, { recursive: true });
  });

  it('takes the backend from the environment', async () => {
    expect(await runCli(['contend', 'stock'], { QUEUELOCK_URL: 'memory:' })).to.include({ code: 0 });
  });

  it('tells people the same in words', async () => {
    const { stdout } = await runCli(['contend', 'stock', ...MEMORY, '--id', 'me']);
    expect(stdout.trim().split('\n')).to.have.length(4);
    expect(stdout).to.match(/me {2}holds the lock, #\d+, fencing token \d+\n/);
  });

  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const) {
    it(`releases on ${signal} and ends with ${String(code)}`, async () => {
      const cli = new Cli(['contend', 'stock', ...MEMORY, '--hold', '60000', '--count', '5', '--json']);
      await cli.until('acquired');
      cli.child.kill(signal);
      expect(await cli.ending).to.include({ code, signal: null, stderr: '' });
      expect(cli.events.at(-1)).to.include({ ev: 'released', n: 1 });
    });
  }

  it('releases and ends as by SIGPIPE when its reader goes away', async () => {
    const cli = new Cli(['contend', 'stock', ...MEMORY, '--count', '1000000', '--json']);
    await cli.until('released');
    cli.child.stdout?.destroy();
    const [code] = (await once(cli.child, 'exit')) as [number];
    expect(code).to.equal(141);
  });

  it('loses no line when its reader is slow', async () => {
    const cli = new Cli(['contend', 'stock', ...MEMORY, '--count', '3000', '--json']);
    await cli.until('released');
    const output = cli.child.stdout!;
    output.pause();
    // Node reads ahead until its buffer is full; from then on the command has only the pipe, and then has to wait.
    while (output.readableLength < output.readableHighWaterMark) await new Promise(setImmediate);
    expect(cli.child.exitCode).to.equal(null);
    output.resume();
    const { code, stdout } = await cli.ending;
    expect(code).to.equal(0);
    expect(parseLines(stdout)).to.have.length(12_000);
  });
});

describe('queuelock run', () => {
  const run = (...command: string[]): Promise<{ code: number | null; stdout: string; stderr: string }> =>
    runCli(['run', 'job', ...MEMORY, '--', ...command]);

  it('gives the command the name, the token and the key', async () => {
    const { code, stdout } = await run('sh', '-c', 'echo "$QUEUELOCK_NAME $QUEUELOCK_TOKEN $QUEUELOCK_KEY"');
    expect(code).to.equal(0);
    expect(stdout).to.match(/^job (\d+) job\/\1\n$/);
  });

  it("answers with the command's exit code", async () => {
    expect(await run('sh', '-c', 'exit 7')).to.include({ code: 7, stderr: '' });
  });

  it('answers with 128+n when signal n ended the command', async () => {
    expect(await run('sh', '-c', 'kill -9 $$')).to.include({ code: 137 });
  });

  it('uses no shell', async () => {
    expect(await run('echo', '$HOME', '*', '-n')).to.include({ code: 0, stdout: '$HOME * -n\n' });
  });

  it('ends with 127 or 126 when the command cannot be started', async () => {
    const missing = await run('no-such-program-here');
    expect(missing).to.include({ code: 127 });
    expect(missing.stderr).to.match(/^queuelock: cannot start "no-such-program-here": [^\n]*\n$/);
    expect(await run('/dev/null')).to.include({ code: 126 });
  });

  for (const [signal, code] of [
    ['SIGTERM', 5],
    ['SIGINT', 6],
    ['SIGHUP', 7],
  ] as const) {
    it(`hands ${signal} on to the command and everything it started`, async () => {
      const name = signal.slice(3);
      const started = `trap "echo told; exit" ${name}; echo up; while :; do sleep 0.05; done`;
      const command = ['sh', '-c', `trap 'exit ${String(code)}' ${name}; sh -c '${started}'; exit 1`];
      const cli = new Cli(['run', 'job', ...MEMORY, '--', ...command]);
      while (!cli.stdout.includes('up')) await once(cli.child.stdout!, 'data');
      cli.child.kill(signal);
      expect(await cli.ending).to.include({ code, stdout: 'up\ntold\n' });
    });
  }
});

describe('queuelock demo', () => {
  it('ends with a verdict that is OK, one crash and one that gave up', async () => {
    await expectGoodDemo();
  });

  it('ends in order on SIGINT, without a verdict', async () => {
    const cli = new Cli(['demo', '--json']);
    await cli.until('acquired');
    cli.child.kill('SIGINT');
    const { code, stdout } = await cli.ending;
    expect(code).to.equal(130);
    expect(parseLines(stdout).some(({ ev }) => ev === 'verdict')).to.equal(false);
  });
});
