import { expect } from 'chai';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPool } from 'mysql2/promise';
import { fromUrl, mysql, type MysqlOptions } from '@queuelock/mysql';
import { serverOf } from '../src/api/url.ts';

describe('the URL of a MySQL backend', () => {
  const endpoints: Readonly<Record<string, string>> = {
    'mysql:///locks': 'mysql://127.0.0.1:3306/locks',
    'mysql://db.internal/locks': 'mysql://db.internal:3306/locks',
    'mariadb://db:3307/locks': 'mariadb://db:3307/locks',
    'mysql://user:secret@[::1]:3307/locks?tls=true': 'mysql://[::1]:3307/locks',
  };
  for (const [url, endpoint] of Object.entries(endpoints)) {
    it(`names the server by its endpoint: ${url} becomes ${endpoint}`, async () => {
      const backend = fromUrl(url);
      expect(backend.info).to.deep.include({ name: 'mysql', authority: 'primary', endpoint });
      await backend.close();
    });
  }

  it('can contain user, password and database, percent-encoded if necessary', () => {
    expect(serverOf('mysql://a%40b:p%2Fw@h/my%20locks')).to.deep.include({
      login: { username: 'a@b', password: 'p/w' },
      database: 'my locks',
    });
  });

  it('is refused without a database, and with several hosts or another scheme, without quoting the password', () => {
    for (const url of [
      'mysql://u:secret@h',
      'mysql://u:secret@h/',
      'mysql://u:secret@h/a/b',
      'mysql://u:secret@h,i/a',
      'etcd://u:secret@h/a',
    ])
      expect(() => fromUrl(url))
        .to.throw('is written mysql://user:password@host:port/database')
        .and.have.property('message')
        .that.does.not.include('secret');
  });

  it('is refused with an unknown parameter or an invalid value', () => {
    expect(() => fromUrl('mysql://h/a?certt=x')).to.throw('certt is unknown, did you mean cert?');
    expect(() => fromUrl('mysql://h/a?tls=maybe')).to.throw('tls is true or false');
    expect(() => fromUrl('mysql://h/a?cert=x')).to.throw('has cert and key together');
    expect(() => fromUrl('mysql://h/a?ca=/not/there')).to.throw('names a PEM file that can be read');
  });

  it('selects the npm package that connects, unless the option `driver` selects one', () => {
    expect(serverOf('mysql://h/a?driver=mariadb')).to.have.property('driver', 'mariadb');
    expect(() => fromUrl('mysql://h/a?driver=knex')).to.throw('driver is mysql2 or mariadb; got "knex"');
    expect(() => mysql({ url: 'mysql://h/a?driver=knex', driver: 'mysql2' })).not.to.throw();
  });

  it('enables TLS when it names a certificate', () => {
    const directory = mkdtempSync(join(tmpdir(), 'queuelock-test-'));
    const ca = join(directory, 'ca.pem');
    writeFileSync(ca, 'a certificate');
    expect(serverOf(`mysql://h/a?ca=${ca}`)).to.have.property('secure', true);
    expect(serverOf('mysql://h/a?tls=true')).to.have.property('secure', true);
    expect(serverOf('mysql://h/a')).to.have.property('secure', false);
    expect(() => serverOf(`mysql://h/a?tls=false&ca=${ca}`)).to.throw('is true when there are certificates');
    rmSync(directory, { recursive: true });
  });
});

describe('the options of a MySQL backend', () => {
  const refusedOptions: readonly (readonly [MysqlOptions, string])[] = [
    [{}, 'or pool is given'],
    [
      { url: 'mysql://h/a', pool: { getConnection: () => Promise.reject(new Error('none')) } },
      'or pool is given',
    ],
    [{ url: 'mysql://h/a', connections: 0 }, 'connections is a whole number from 1 to 64'],
    [{ url: 'mysql://h/a', requestTimeoutMs: 0 }, 'requestTimeoutMs is a number of milliseconds from 1'],
    [{ url: 'mysql://h/a', tls: { cert: 'secret', key: 'secret' } }, 'tls.cert is in PEM'],
    [{ url: 'mysql://h/a', tls: { cert: 'secret' } }, 'has cert and key together; got "cert"'],
    [{ url: 'mysql://h/a', tls: { key: 'secret' } }, 'has cert and key together; got "key"'],
    [{ pool: {} as never }, 'is a pool of mysql2/promise'],
    [{ url: 'mysql://h/a', conections: 3 } as never, 'did you mean connections?'],
  ];
  for (const [options, rule] of refusedOptions) {
    it(`are refused with an error that states the broken rule: ${rule}`, () => {
      expect(() => mysql(options))
        .to.throw(rule)
        .and.have.property('message')
        .that.does.not.include('secret');
    });
  }

  it("show the address of a pool's server without connecting", async () => {
    const pool = createPool({ host: 'db.internal', user: 'u', password: 'secret', database: 'locks' });
    expect(mysql({ pool }).info.endpoint).to.equal('mysql://db.internal:3306/locks');
    await pool.end();
  });

  it('refuse a pool whose methods take callbacks, and the error names the pool to use instead', async () => {
    const { createPool: callbacks } = await import('mysql2');
    const pool = callbacks({ host: 'db.internal' });
    expect(() => mysql({ pool: pool as never })).to.throw('pool.promise()');
    pool.end();
  });
});
