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

/**
 * Returns whether the password in a URL of this scheme may contain the character. On Consul the password is
 * the ACL token, which the client sends in an HTTP header.
 */
function isAllowed(scheme: string, character: string): boolean {
  return !scheme.startsWith('consul') || /^[\x21-\x7E]$/.test(character);
}

/** Returns a password with the character at its start, in its middle and at its end. */
function passwordWith(character: string): string {
  return `${character}k7Qw${character}zX3v${character}${character}Pm9t${character}`;
}

/** Returns a URL with this user part and an address where no server listens. */
function urlWith(scheme: string, userPart: string): string {
  return `${scheme}://${userPart}@127.0.0.1:1${DATABASE[scheme] ?? '/place'}`;
}

function expectNoPart(text: string, password: string, what: string): void {
  for (let from = 0; from + LONGEST_SHOWN < password.length; from += 1) {
    const part = password.slice(from, from + LONGEST_SHOWN + 1);
    // Compares without chai's own assertions on strings, whose error message would print the password.
    expect(text.includes(part), `${what}: at ${String(from)}`).to.equal(false);
  }
}

function textsOf(error: unknown): string {
  return [inspect(error, { depth: 10 }), describeFailure(error, true), JSON.stringify(error)].join('\n');
}

/**
 * Creates the backend of a URL. Resolves with the backend and its `info` as JSON, or with the error in all its
 * printed forms.
 */
async function opened(url: string): Promise<{ readonly backend?: Backend; readonly printed: string }> {
  try {
    const backend = await backendFromUrl(url);
    return { backend, printed: JSON.stringify(backend.info) };
  } catch (error) {
    return { printed: textsOf(error) };
  }
}

/**
 * Resolves with everything that a client reports while its server is down: errors, session states, and
 * messages of diagnostics channels.
 */
async function saidWithoutServer(backend: Backend): Promise<string> {
  const output: unknown[] = [];
  const note = (message: unknown): void => void output.push(message);
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
  return inspect(output, { depth: 10 });
}

/** Fails if a client of this scheme prints a part of its password while its server is down. */
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

describe('the password in the URL of a backend', function () {
  this.timeout(60_000);
  // Tests all schemes at the same time, because each client waits some seconds for a server that does not
  // exist.
  const attempts = new Map<string, Promise<void>>();

  before(() => {
    for (const scheme of SCHEMES) {
      const tried = showsNoPassword(scheme);
      tried.catch(() => undefined);
      attempts.set(scheme, tried);
    }
  });

  for (const scheme of SCHEMES) {
    it(`with the scheme ${scheme} is never printed, whether its characters are accepted or rejected`, async () => {
      for (const character of CHARACTERS) {
        const password = passwordWith(character);
        const encoded = encodeURIComponent(password);
        for (const [form, written] of Object.entries({ raw: password, encoded })) {
          const url = urlWith(scheme, `user:${written}`);
          const what = `${form} ${JSON.stringify(character)}`;
          const { backend, printed } = await opened(url);
          expectNoPart(printed, password, what);
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

    it(`with the scheme ${scheme} is in no error, state or diagnosis of a client whose server is down`, () =>
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

  it('is neither in the process title nor in the output of a running queuelock process (Linux)', async function () {
    if (process.platform !== 'linux') this.skip();
    for (const character of ['"', "'", ' ', '@', '/', '?', '#']) {
      const password = passwordWith(character);
      const cli = new Cli(['contend', 'x', '--keep', '--backend', urlWith('etcd', `user:${password}`)]);
      // The process may have ended before its title is read, because it rejected the password.
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

  it('is in no error about an invalid command line', async () => {
    for (const character of ['"', "'", ' ', '@', '/']) {
      const password = passwordWith(character);
      const { code, stderr } = await runCli(['who', 'x', `--bakend=${urlWith('etcd', `user:${password}`)}`]);
      expect(code).to.equal(2);
      expectNoPart(stderr, password, JSON.stringify(character));
    }
  });

  it('is redacted in every message and in every escaped form', () => {
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

describe('a program that queuelock starts', function () {
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
