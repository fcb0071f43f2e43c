import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { configPath } from '../src/config/file.ts';
import { findNamedStore, selectStore } from '../src/config/store-selection.ts';
import { requirePrivate } from '../src/config/private-file.ts';
import { Failure } from '../src/failure.ts';
import { redact } from '../src/secrets.ts';

const PROFILES = {
  default: 'home',
  profiles: { home: { url: 'etcd://home:1', ttl: 20, epoch: 3 }, work: { url: 'zk://work:2/team' } },
};

describe('the selection of the store', () => {
  let directory: string;
  const write = (name: string, content: unknown, mode = 0o600): string => {
    const file = join(directory, name);
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
    chmodSync(file, mode);
    return file;
  };
  const configured = (content: unknown, mode?: number): { QUEUELOCK_CONFIG: string } => ({
    QUEUELOCK_CONFIG: write('config.json', content, mode),
  });

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-config-'));
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  it('prefers --backend to --profile, then the environment, then the configuration file', () => {
    const env = { ...configured(PROFILES), QUEUELOCK_URL: 'etcd://url:3', QUEUELOCK_PROFILE: 'work' };
    expect(selectStore({ backend: 'memory:' }, env).url).to.equal('memory:');
    expect(selectStore({ profile: 'work' }, env).url).to.equal('zk://work:2/team');
    expect(selectStore({}, env).url).to.equal('etcd://url:3');
    expect(selectStore({}, { ...env, QUEUELOCK_URL: '' }).url).to.equal('zk://work:2/team');
    const { QUEUELOCK_CONFIG } = env;
    expect(selectStore({}, { QUEUELOCK_CONFIG })).to.deep.equal({ url: 'etcd://home:1', ttl: 20, epoch: 3 });
  });

  it("ignores the configuration's default store for commands that need no server, such as demo", () => {
    expect(findNamedStore({}, configured(PROFILES))).to.equal(undefined);
  });

  it('reads the configuration file at its usual path', () => {
    expect(configPath({ XDG_CONFIG_HOME: '/etc/me' })).to.equal('/etc/me/queuelock/config.json');
    expect(configPath({ XDG_CONFIG_HOME: '' })).to.equal(join(homedir(), '.config/queuelock/config.json'));
    expect(() => selectStore({}, { XDG_CONFIG_HOME: directory })).to.throw(Failure, 'no backend given');
  });

  const QUEUELOCK_USER = 'ops';
  it('takes credentials from environment variables', () => {
    const env = { QUEUELOCK_URL: 'etcd://h:1/p', QUEUELOCK_USER, QUEUELOCK_PASSWORD: 'a/b@c:d' };
    expect(selectStore({}, env).url).to.equal('etcd://ops:a%2Fb%40c%3Ad@h:1/p');
  });

  it('takes the password from a file that an environment variable names', () => {
    const file = write('password', 'hunter two\n', 0o600);
    const env = { QUEUELOCK_URL: 'zk://h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD_FILE: file };
    expect(selectStore({}, env).url).to.equal('zk://ops:hunter%20two@h:1');
    const profile = { url: 'zk://h:1', user: 'me', passwordFile: file };
    const config = configured({ profiles: { a: profile } });
    expect(selectStore({ profile: 'a' }, config).url).to.equal('zk://me:hunter%20two@h:1');
  });

  it('rejects a password file that other users may access', () => {
    for (const mode of [0o644, 0o640, 0o604, 0o602]) {
      const file = write(`password-${mode.toString(8)}`, 's3cret', mode);
      const env = { QUEUELOCK_URL: 'zk://h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD_FILE: file };
      expect(() => selectStore({}, env)).to.throw(
        Failure,
        `mode ${mode.toString(8)}, which lets other users access it: run chmod 600 ${file}`,
      );
    }
  });

  it('accepts a password file of root that its group may read, and rejects one that all users may read', () => {
    const mounted =
      (mode: number): (() => void) =>
      () =>
        requirePrivate('password file', 'f', { mode, uid: 0 });
    // The group may read a password file of root, but not a user's own password file. If root runs the tests,
    // a file of root is the user's own file. So the test checks the mode 0440 only for other users.
    if (process.getuid?.() !== 0) expect(mounted(0o440)).to.not.throw();
    for (const mode of [0o444, 0o460, 0o442]) expect(mounted(mode)).to.throw(Failure);
    expect(mounted(0o400)).to.not.throw();
  });

  it('prefers the credentials in the URL to those in environment variables', () => {
    const env = { QUEUELOCK_URL: 'etcd://me:mine@h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD: 'other' };
    expect(selectStore({}, env).url).to.equal('etcd://me:mine@h:1');
    expect(selectStore({ backend: 'memory:' }, env).url).to.equal('memory:');
  });

  it('never prints a password that it has read', () => {
    selectStore({}, { QUEUELOCK_URL: 'etcd://h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD: 'tr0ub4dor & 3' });
    selectStore({ backend: 'etcd://me:corr%3Dect@h:1' }, {});
    expect(redact('sent "tr0ub4dor & 3", tr0ub4dor%20%26%203, corr=ect, corr%3Dect')).to.equal(
      'sent "[secret]", [secret], [secret], [secret]',
    );
  });

  const mistakes: Record<string, { config: unknown; mode?: number; says: RegExp }> = {
    'a text that is not JSON': { config: '{"url": "etcd://me:s3cret@h"', says: /is not JSON/ },
    'a list': { config: [], says: /must be an object/ },
    'an unknown field': {
      config: { profile: {} },
      says: /unknown field profile; known fields are default, profiles/,
    },
    'a profile without a URL': { config: { profiles: { a: {} } }, says: /a needs a url, such as etcd:/ },
    'a URL that is not a string': {
      config: { profiles: { a: { url: 1 } } },
      says: /a\.url must be a string/,
    },
    'a TTL that is not a number': {
      config: { profiles: { a: { url: 'memory:', ttl: '10' } } },
      says: /a\.ttl must be a whole number, 1 or more/,
    },
    'a missing profile': {
      config: { profiles: { b: { url: 'memory:' } } },
      says: /no profile "a" in .*config\.json; known profiles: b/,
    },
    'a password that other users may read': {
      config: { profiles: { a: { url: 'etcd://me:s3cret@h' } } },
      mode: 0o640,
      says: /has mode 640, which lets other users access it: run chmod 600 .*config\.json/,
    },
    'a missing password file': {
      config: { profiles: { a: { url: 'etcd://h', user: 'me', passwordFile: '/nowhere/s' } } },
      says: /cannot read the password file \/nowhere\/s: ENOENT/,
    },
  };
  for (const [what, { config, mode, says }] of Object.entries(mistakes)) {
    it(`fails with one line that contains no secrets if the configuration has an error: ${what}`, () => {
      const env = configured(config, mode);
      expect(() => selectStore({ profile: 'a' }, env))
        .to.throw(Failure, says)
        .that.satisfies((error: Failure) => error.exitCode === 2 && !/s3cret/.test(error.message))
        .and.does.not.have.property('cause');
    });
  }

  it('fails when two options select the store, or when an explicitly named file is missing', () => {
    expect(() => selectStore({ backend: 'memory:', profile: 'a' }, {})).to.throw(Failure, 'use one of them');
    const env = { QUEUELOCK_CONFIG: join(directory, 'none.json'), QUEUELOCK_PROFILE: 'a' };
    expect(() => selectStore({}, env)).to.throw(
      Failure,
      /cannot read the configuration .*none\.json: ENOENT/,
    );
  });
});
