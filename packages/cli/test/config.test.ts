import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { configPath } from '../src/config/file.ts';
import { namedPlace, placeOf } from '../src/config/place.ts';
import { requirePrivate } from '../src/config/private-file.ts';
import { Failure } from '../src/failure.ts';
import { redact } from '../src/secrets.ts';

const PROFILES = {
  default: 'home',
  profiles: { home: { url: 'etcd://home:1', ttl: 20, epoch: 3 }, work: { url: 'zk://work:2/team' } },
};

describe('where the queues are', () => {
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

  it('is told by the option, the profile, the environment, the configuration, in this order', () => {
    const env = { ...configured(PROFILES), QUEUELOCK_URL: 'etcd://url:3', QUEUELOCK_PROFILE: 'work' };
    expect(placeOf({ backend: 'memory:' }, env).url).to.equal('memory:');
    expect(placeOf({ profile: 'work' }, env).url).to.equal('zk://work:2/team');
    expect(placeOf({}, env).url).to.equal('etcd://url:3');
    expect(placeOf({}, { ...env, QUEUELOCK_URL: '' }).url).to.equal('zk://work:2/team');
    const { QUEUELOCK_CONFIG } = env;
    expect(placeOf({}, { QUEUELOCK_CONFIG })).to.deep.equal({ url: 'etcd://home:1', ttl: 20, epoch: 3 });
  });

  it('is not the default of the configuration for what must not touch a server unasked', () => {
    expect(namedPlace({}, configured(PROFILES))).to.equal(undefined);
  });

  it('is in a file of the usual place', () => {
    expect(configPath({ XDG_CONFIG_HOME: '/etc/me' })).to.equal('/etc/me/queuelock/config.json');
    expect(configPath({ XDG_CONFIG_HOME: '' })).to.equal(join(homedir(), '.config/queuelock/config.json'));
    expect(() => placeOf({}, { XDG_CONFIG_HOME: directory })).to.throw(Failure, 'no backend given');
  });

  const QUEUELOCK_USER = 'ops';
  it('has the credentials of the environment', () => {
    const env = { QUEUELOCK_URL: 'etcd://h:1/p', QUEUELOCK_USER, QUEUELOCK_PASSWORD: 'a/b@c:d' };
    expect(placeOf({}, env).url).to.equal('etcd://ops:a%2Fb%40c%3Ad@h:1/p');
  });

  it('has the password of a file', () => {
    const file = write('password', 'hunter two\n', 0o600);
    const env = { QUEUELOCK_URL: 'zk://h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD_FILE: file };
    expect(placeOf({}, env).url).to.equal('zk://ops:hunter%20two@h:1');
    const profile = { url: 'zk://h:1', user: 'me', passwordFile: file };
    const config = configured({ profiles: { a: profile } });
    expect(placeOf({ profile: 'a' }, config).url).to.equal('zk://me:hunter%20two@h:1');
  });

  it('has no password of a file that other users may use', () => {
    for (const mode of [0o644, 0o640, 0o604, 0o602]) {
      const file = write(`password-${mode.toString(8)}`, 's3cret', mode);
      const env = { QUEUELOCK_URL: 'zk://h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD_FILE: file };
      expect(() => placeOf({}, env)).to.throw(
        Failure,
        `mode ${mode.toString(8)}, so that other users may use it: chmod 600 ${file}`,
      );
    }
  });

  it('may have the password of a file of root that its group reads, and others do not', () => {
    const mounted =
      (mode: number): (() => void) =>
      () =>
        requirePrivate('password file', 'f', { mode, uid: 0 });
    // For root this is a file of the process's own user.
    if (process.getuid?.() !== 0) expect(mounted(0o440)).to.not.throw();
    for (const mode of [0o444, 0o460, 0o442]) expect(mounted(mode)).to.throw(Failure);
    expect(mounted(0o400)).to.not.throw();
  });

  it('keeps the credentials of its own URL', () => {
    const env = { QUEUELOCK_URL: 'etcd://me:mine@h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD: 'other' };
    expect(placeOf({}, env).url).to.equal('etcd://me:mine@h:1');
    expect(placeOf({ backend: 'memory:' }, env).url).to.equal('memory:');
  });

  it('never shows a password that it has read', () => {
    placeOf({}, { QUEUELOCK_URL: 'etcd://h:1', QUEUELOCK_USER, QUEUELOCK_PASSWORD: 'tr0ub4dor & 3' });
    placeOf({ backend: 'etcd://me:corr%3Dect@h:1' }, {});
    expect(redact('sent "tr0ub4dor & 3", tr0ub4dor%20%26%203, corr=ect, corr%3Dect')).to.equal(
      'sent "[secret]", [secret], [secret], [secret]',
    );
  });

  const mistakes: Record<string, { config: unknown; mode?: number; says: RegExp }> = {
    'what is no JSON': { config: '{"url": "etcd://me:s3cret@h"', says: /is not JSON/ },
    'a list': { config: [], says: /must be an object/ },
    'an unknown field': {
      config: { profile: {} },
      says: /unknown field profile; known are default, profiles/,
    },
    'a profile without a URL': { config: { profiles: { a: {} } }, says: /a needs a url, such as etcd:/ },
    'a URL that is no text': { config: { profiles: { a: { url: 1 } } }, says: /a\.url must be a text/ },
    'a TTL that is no number': {
      config: { profiles: { a: { url: 'memory:', ttl: '10' } } },
      says: /a\.ttl must be a whole number, 1 or more/,
    },
    'a profile that is not there': {
      config: { profiles: { b: { url: 'memory:' } } },
      says: /no profile "a" in .*config\.json; it has b/,
    },
    'a password that others may read': {
      config: { profiles: { a: { url: 'etcd://me:s3cret@h' } } },
      mode: 0o640,
      says: /has mode 640, so that other users may use it: chmod 600 .*config\.json/,
    },
    'a password file that is not there': {
      config: { profiles: { a: { url: 'etcd://h', user: 'me', passwordFile: '/nowhere/s' } } },
      says: /cannot read the password file \/nowhere\/s: ENOENT/,
    },
  };
  for (const [what, { config, mode, says }] of Object.entries(mistakes)) {
    it(`is refused in a line without secrets for ${what}`, () => {
      const env = configured(config, mode);
      expect(() => placeOf({ profile: 'a' }, env))
        .to.throw(Failure, says)
        .that.satisfies((error: Failure) => error.exitCode === 2 && !/s3cret/.test(error.message))
        .and.does.not.have.property('cause');
    });
  }

  it('is refused when two options say it, and when a named file is not there', () => {
    expect(() => placeOf({ backend: 'memory:', profile: 'a' }, {})).to.throw(Failure, 'use one of them');
    const env = { QUEUELOCK_CONFIG: join(directory, 'none.json'), QUEUELOCK_PROFILE: 'a' };
    expect(() => placeOf({}, env)).to.throw(Failure, /cannot read the configuration .*none\.json: ENOENT/);
  });
});
