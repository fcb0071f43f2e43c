import { expect } from 'chai';
import { respond } from '../src/answer.ts';
import { UNSET } from './cli-process.ts';

const MEMORY = ['--backend', 'memory:'];

/**
 * Returns what this process prints while `work` runs. Environment variables of the test run that select a
 * store are unset meanwhile.
 */
async function output(work: () => Promise<unknown>): Promise<Record<'stdout' | 'stderr', string>> {
  const texts = { stdout: '', stderr: '' };
  const { env } = process;
  const writers = (['stdout', 'stderr'] as const).map(
    (name) => [name, process[name].write.bind(process[name])] as const,
  );
  process.env = { ...env, ...UNSET };
  for (const [name] of writers)
    process[name].write = (text: string | Uint8Array) => {
      texts[name] += String(text);
      return true;
    };
  try {
    await work();
  } finally {
    for (const [name, write] of writers) process[name].write = write;
    process.env = env;
  }
  return texts;
}

describe('a command line that can never succeed', () => {
  const wrong: Record<string, { args: string[]; says: RegExp }> = {
    'a name that is missing': { args: ['contend'], says: /missing required argument 'name'/ },
    'no backend': { args: ['ls'], says: /--backend URL, set QUEUELOCK_URL/ },
    'an unknown backend': {
      args: ['contend', 'a', '--backend', 'oracle://user:secret@h:1'],
      says: /unknown backend oracle:; known schemes are memory:, sqlite:file, etcd:\/\/host:port, etcds:\/\/host:port, zk:\/\/host:port, zks:\/\/host:port, redis:\/\/host:port, rediss:\/\/host:port, postgres:\/\/host:port\/database, mysql:\/\/host:port\/database, consul:\/\/host:port, consuls:\/\/host:port$/m,
    },
    'a backend without a scheme': {
      args: ['contend', 'a', '--backend', 'secret'],
      says: /needs a scheme; known schemes are memory:/,
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
    it(`is rejected in one line, with exit code 2: ${what}`, async () => {
      let code: number | undefined;
      const { stdout, stderr } = await output(async () => {
        code = await respond(['node', 'queuelock', ...args]);
      });
      expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
      expect(stderr)
        .to.match(/^queuelock: [^\n]+\n$/)
        .and.match(says);
      expect(stderr).to.not.contain('secret');
    });
  }
});
