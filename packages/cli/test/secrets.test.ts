import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { inspect } from 'node:util';
import { CHANNELS, createLockClient, type Backend } from '@queuelock/core';
import { parseBackendUrl } from '@queuelock/core/backend';
import { expect } from 'chai';
import { backendFromUrl } from '../src/backends.ts';
import { selectStore } from '../src/config/store-selection.ts';
import { describeFailure, describeUsageError } from '../src/failure.ts';
import { withoutSecrets } from '../src/secrets.ts';
import { Cli, runCli } from './cli-process.ts';

const SCHEMES = [
  'etcd',
  'etcds',
  'zk',
  'zks',
  'redis',
  'rediss',
  'postgres',
  'postgresql',
  'mysql',
  'mariadb',
  'consul',
  'consuls',
] as const;
const PRINTABLE = Array.from({ length: 0x7f - 0x20 }, (_, place) => String.fromCharCode(0x20 + place));
const CHARACTERS = [...PRINTABLE, 'ü', '🔒', '\t', '\u001B'];
const DATABASE: Readonly<Record<string, string>> = { redis: '/0', rediss: '/0' };
const LONGEST_SHOWN = 3;

/** Returns whether a password of the scheme may have the character: a token of Consul is sent in a header of HTTP. */
function isAllowed(scheme: string, character: string): boolean {
  return !scheme.startsWith('consul') || /^[\x21-\x7E]$/.test(character);
}

/** Makes passwords with a character at the start, in the middle and at the end. */
function passwordWith(character: string): string {
  return `${character}k7Qw${character}zX3v${character}${character}Pm9t${character}`;
}

/** Makes a URL to an address where no server listens. */
function urlWith(scheme: string, userPart: string): string {
  return `${scheme}://${userPart}@127.0.0.1:1${DATABASE[scheme] ?? '/place'}`;
}

function expectNoPart(text: string, password: string, what: string): void {
  for (let from = 0; from + LONGEST_SHOWN < password.length; from += 1) {
    const part = password.slice(from, from + LONGEST_SHOWN + 1);
    // Compares without chai's message, which would print the text itself.
    expect(text.includes(part), `${what}: at ${String(from)}`).to.equal(false);
  }
}

function textsOf(error: unknown): string {
  return [inspect(error, { depth: 10 }), describeFailure(error, true), JSON.stringify(error)].join('\n');
}

/** Resolves with the backend, or with the error message. */
async function opened(url: string): Promise<{ readonly backend?: Backend; readonly said: string }> {
  try {
    const backend = await backendFromUrl(url);
    return { backend, said: JSON.stringify(backend.info) };
  } catch (error) {
    return { said: textsOf(error) };
  }
}

/** Collects all messages while a server cannot be reached: of the error, the session, and the diagnostics. */
async function saidWithoutServer(backend: Backend): Promise<string> {
  const said: unknown[] = [];
  const note = (message: unknown): void => void said.push(message);
  const channels = Object.values(CHANNELS).flatMap((name) => [
    name,
    `tracing:${name}:start`,
    `tracing:${name}:asyncEnd`,
    `tracing:${name}:error`,
  ]);
  for (const each of channels) subscribe(each, note);
  const client = createLockClient(backend, { connectTimeoutMs: 300 });
  client.session$.subscribe({ next: note, error: note });
  client.watch('x').subscribe({ next: note, error: note });
  try {
    note(await client.acquire('x', { timeoutMs: 500 }).catch((error: unknown) => textsOf(error)));
    note(await client.diagnose('').catch((error: unknown) => textsOf(error)));
  } finally {
    await client.close();
    for (const each of channels) unsubscribe(each, note);
  }
  return inspect(said, { depth: 10 });
}

/** Fails if a client of this scheme whose server is down says a part of its password. */
async function showsNoPassword(scheme: string): Promise<void> {
  const characters = ['@', '/', '?', '#', '"', "'", ' ', '\\', ':', 'ü'];
  const allowed = characters.filter((character) => isAllowed(scheme, character));
  const tried = allowed.map(async (character) => {
    const password = passwordWith(character);
    const { backend } = await opened(urlWith(scheme, `user:${encodeURIComponent(password)}`));
    expectNoPart(await saidWithoutServer(backend!), password, JSON.stringify(character));
  });
  await Promise.all(tried);
}

describe('password in the URL of a backend', function () {
  this.timeout(60_000);
  // All schemes at once: each waits for a server that does not come.
  const attempts = new Map<string, Promise<void>>();

  before(() => {
    for (const scheme of SCHEMES) {
      const tried = showsNoPassword(scheme);
      tried.catch(() => undefined);
      attempts.set(scheme, tried);
    }
  });

  for (const scheme of SCHEMES) {
    it(`of the scheme ${scheme} is accepted or refused whatever its characters, and never shown`, async () => {
      for (const character of CHARACTERS) {
        const password = passwordWith(character);
        const encoded = encodeURIComponent(password);
        for (const [form, written] of Object.entries({ raw: password, encoded })) {
          const url = urlWith(scheme, `user:${written}`);
          const what = `${form} ${JSON.stringify(character)}`;
          const { backend, said } = await opened(url);
          expectNoPart(said, password, what);
          if (form === 'encoded') expect(backend !== undefined, what).to.equal(isAllowed(scheme, character));
          if (!backend) continue;
          const { password: read, hosts } = parseBackendUrl(url);
          expect({ read, hosts }, what).to.deep.equal({
            read: form === 'raw' && character === '%' ? decodeURIComponent(written) : password,
            hosts: ['127.0.0.1:1'],
          });
          await backend.close();
        }
      }
    });

    it(`of the scheme ${scheme} is in no error, state or diagnostic of a client whose server is down`, () =>
      attempts.get(scheme));
  }

  it('is in no argument that `ps` shows', () => {
    for (const scheme of SCHEMES)
      for (const character of CHARACTERS) {
        const password = passwordWith(character);
        const url = urlWith(scheme, `user:${password}`);
        const shown = withoutSecrets(['node', 'queuelock', 'who', 'x', '--backend', url, `--backend=${url}`]);
        expectNoPart(shown.join(' '), password, JSON.stringify(character));
        expect(shown.slice(0, 5)).to.deep.equal(['node', 'queuelock', 'who', 'x', '--backend']);
      }
  });

  it('is neither in the title of a process that runs nor in its output', async function () {
    if (process.platform !== 'linux') this.skip();
    for (const character of ['"', "'", ' ', '@', '/', '?', '#']) {
      const password = passwordWith(character);
      const cli = new Cli(['contend', 'x', '--keep', '--backend', urlWith('etcd', `user:${password}`)]);
      // The password may have been refused already.
      const titles = (): string => {
        try {
          return readFileSync(`/proc/${String(cli.child.pid)}/cmdline`, 'utf8');
        } catch {
          return '';
        }
      };
      while (titles().includes('k7Qw')) await pause(1);
      cli.child.kill('SIGTERM');
      const { stdout, stderr } = await cli.ending;
      expectNoPart(stdout + stderr, password, JSON.stringify(character));
    }
  });

  it('is in no error about a command line', async () => {
    for (const character of ['"', "'", ' ', '@', '/']) {
      const password = passwordWith(character);
      const { code, stderr } = await runCli(['who', 'x', `--bakend=${urlWith('etcd', `user:${password}`)}`]);
      expect(code).to.equal(2);
      expectNoPart(stderr, password, JSON.stringify(character));
    }
  });

  it('is in no message that quotes a password of the environment, however it is escaped', () => {
    for (const character of CHARACTERS) {
      const password = passwordWith(character);
      const env = { QUEUELOCK_USER: 'user', QUEUELOCK_PASSWORD: password };
      const { url } = selectStore({ backend: 'etcd://h:1' }, env);
      expect(parseBackendUrl(url).password).to.equal(password);
      for (const text of [password, JSON.stringify(password), encodeURIComponent(password), url]) {
        expectNoPart(describeFailure(new Error(text), true), password, JSON.stringify(character));
        expectNoPart(describeUsageError(text), password, JSON.stringify(character));
      }
    }
  });
});

describe('command that queuelock runs', function () {
  this.timeout(60_000);
  const env = {
    QUEUELOCK_URL: 'memory:',
    QUEUELOCK_USER: 'user',
    QUEUELOCK_PASSWORD: 'k7QwzX3v',
    QUEUELOCK_PASSWORD_FILE: '/nowhere',
  };
  const print = ['sh', '-c', 'env | grep -E "^QUEUELOCK_(URL|USER|PASSWORD|PASSWORD_FILE)=" | sort || true'];
  for (const [command, args] of Object.entries({ run: ['run', 'x'], elect: ['elect', 'x', 'me'] })) {
    it(`gets no credentials of the store in its environment by default: ${command}`, async () => {
      const without = await runCli([...args, '--', ...print], env);
      expect(without).to.include({ code: 0, stdout: '', stderr: '' });
      const passed = await runCli([...args, '--pass-credentials', '--', ...print], env);
      const all = Object.entries(env).map(([name, value]) => `${name}=${value}\n`);
      expect(passed).to.include({ code: 0, stdout: all.toSorted().join(''), stderr: '' });
    });
  }
});
