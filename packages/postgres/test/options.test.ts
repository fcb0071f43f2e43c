import { expect } from 'chai';
import pg from 'pg';
import { fromUrl, migration, postgres, type PostgresOptions } from '@queuelock/postgres';
import { sslModeOf, tlsOf } from '../src/driver/tls.ts';

describe('the URL of a PostgreSQL', () => {
  const endpoints: Readonly<Record<string, string>> = {
    'postgres:': 'postgres://',
    'postgres://locks': 'postgres://locks',
    'postgresql://user:secret@locks:7000/db': 'postgres://locks:7000/db',
    'postgres://:secret@[::1]:7000': 'postgres://[::1]:7000',
    'postgres://user:secret@locks/db?schema=team&sslmode=require': 'postgres://locks/db',
  };
  for (const [url, endpoint] of Object.entries(endpoints)) {
    it(`is accepted, and the endpoint shows no password: ${url}`, async () => {
      const backend = fromUrl(url);
      expect(backend.info).to.deep.include({ name: 'postgres', authority: 'primary', endpoint });
      await backend.close();
    });
  }

  for (const url of ['postgres://a,b', 'postgres://user:secret@h/a/b', 'http://user:secret@h']) {
    it(`is refused if it is invalid, with an error that states the rule: ${url}`, () => {
      expect(() => fromUrl(url))
        .to.throw('is written postgres://user:password@host:port/database')
        .with.property('message')
        .not.contains('secret');
    });
  }

  it('is refused with an unknown parameter', () => {
    expect(() => fromUrl('postgres://h?shema=a')).to.throw('shema is unknown, did you mean schema?');
  });

  it('selects the npm package by its parameter driver, and is refused with an unknown package', async () => {
    await fromUrl('postgres://h?driver=postgres').close();
    expect(() => fromUrl('postgres://h?driver=knex')).to.throw('driver is pg or postgres; got "knex"');
  });

  it('does not select the npm package if the caller passes the option `driver`', () => {
    expect(() => postgres({ url: 'postgres://h?driver=knex', driver: 'pg' })).not.to.throw();
  });

  it('is refused when it names a PEM file that cannot be read', () => {
    expect(() => fromUrl('postgres://h?ca=/no/such.pem')).to.throw('names a PEM file that can be read');
  });
});

describe('the TLS of PostgreSQL', () => {
  it('is off by default', () => {
    expect(tlsOf(sslModeOf(undefined, false), {})).to.equal(false);
    expect(tlsOf('disable', {})).to.equal(false);
  });

  it('verifies no certificate with require, the certificate with verify-ca, and also its host with verify-full', () => {
    expect(tlsOf('require', {})).to.include({ rejectUnauthorized: false });
    expect(tlsOf('verify-ca', {}))
      .to.include({ rejectUnauthorized: true })
      .and.have.property('checkServerIdentity');
    expect(tlsOf('verify-full', {})).to.deep.equal({ rejectUnauthorized: true });
  });

  it('refuses values of sslmode that would allow an unencrypted connection', () => {
    expect(() => sslModeOf('prefer', false)).to.throw(
      'sslmode is one of disable, require, verify-ca, verify-full',
    );
    expect(sslModeOf(undefined, true)).to.equal('verify-full');
    expect(() => sslModeOf('disable', true)).to.throw('sslmode is not disable when there are certificates');
  });
});

describe('the options of PostgreSQL', () => {
  const wrong: readonly (readonly [about: string, options: unknown, rule: string])[] = [
    ['an unknown one', { uri: 'postgres://h' }, 'uri is unknown'],
    ['a schema that needs quotes', { schema: 'My Locks' }, 'schema is 1 to 32 of a to z'],
    ['a schema of the system', { schema: 'pg_locks' }, 'schema is 1 to 32 of a to z'],
    ['a schema with code in it', { schema: 'a;drop table b' }, 'schema is 1 to 32 of a to z'],
    ['no time for a request', { requestTimeoutMs: 0 }, 'requestTimeoutMs is a number of milliseconds'],
    ['no connections', { connections: 0 }, 'connections is a whole number'],
    ['no object', 'postgres://user:secret@h', 'options of postgres must be an object'],
    [
      'a pool and a URL',
      { url: 'postgres://h', pool: new pg.Pool() },
      'pool is given without url, driver, tls and auth',
    ],
    ['a client for a pool', { pool: new pg.Client() }, 'pool is a Pool of npm pg'],
    ['a cert without its key', { tls: { cert: 'secret' } }, 'has cert and key together'],
    ['no PEM', { tls: { ca: 'secret', cert: 'secret', key: 'secret' } }, 'tls.ca is in PEM'],
  ];
  for (const [about, options, rule] of wrong) {
    it(`are refused if they are invalid: ${about}`, () => {
      expect(() => postgres(options as PostgresOptions))
        .to.throw(rule)
        .with.property('message')
        .not.contains('secret');
    });
  }

  it("show the server's address of a pool without its password", () => {
    const pool = new pg.Pool({ connectionString: 'postgres://user:secret@locks:7000/db' });
    expect(postgres({ pool }).info.endpoint).to.equal('postgres://locks:7000/db');
  });
});

describe('the migration of PostgreSQL', () => {
  it('is SQL of one transaction for the requested schema', () => {
    const text = migration({ schema: 'team', role: 'app user' });
    expect(text)
      .to.match(/^begin;\ncreate schema if not exists team;/)
      .and.match(/commit;\n$/);
    expect(text).to.contain('grant usage on schema team to "app user"').and.not.contain('queuelock');
  });

  it('refuses names that could end the quotes around them in SQL', () => {
    expect(() => migration({ role: 'a"; drop table b' })).to.throw('role is the name of a role');
  });
});
