import { expect } from 'chai';
import { join, resolve } from 'node:path';
import { fromUrl, sqlite } from '@queuelock/sqlite';

describe('the URL of a SQLite file', () => {
  const files: Readonly<Record<string, string>> = {
    'sqlite:locks.db': resolve('locks.db'),
    'sqlite:data/locks.db': resolve('data', 'locks.db'),
    'sqlite:/var/lib/locks.db': '/var/lib/locks.db',
    'sqlite:///var/lib/locks.db': '/var/lib/locks.db',
    'sqlite:a%20b%3Fc.db': resolve('a b?c.db'),
    'sqlite:locks.db?onProcessExit=expire': resolve('locks.db'),
  };
  for (const [url, file] of Object.entries(files)) {
    it(`names a file: ${url}`, async () => {
      const backend = fromUrl(url);
      expect(backend.info).to.deep.include({ name: 'sqlite', authority: 'host', endpoint: `sqlite:${file}` });
      await backend.close();
    });
  }

  for (const url of ['sqlite:', 'sqlite://host/locks.db', 'etcd:locks.db']) {
    it(`is refused, and the error states the rule: ${url}`, () => {
      expect(() => fromUrl(url)).to.throw('is written sqlite:path/to/file or sqlite:/path/to/file');
    });
  }

  it('is refused with an unknown value of onProcessExit', () => {
    expect(() => fromUrl('sqlite:locks.db?onProcessExit=never')).to.throw(
      'onProcessExit is release or expire',
    );
    expect(() => fromUrl('sqlite:locks.db?exit=expire')).to.throw(
      'exit is unknown, did you mean onProcessExit?',
    );
  });
});

describe('the options of SQLite', () => {
  it('reject a file that is not a path', () => {
    for (const file of ['', join('a', '\0'), undefined, 7])
      expect(() => sqlite({ file: file as string })).to.throw('file is the path of a file');
  });
});
