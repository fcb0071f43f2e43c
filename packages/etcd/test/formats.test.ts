import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { leaseHex, queuePrefix, readKey } from '../src/queue/keys.ts';

interface Vectors {
  readonly keys: readonly Readonly<Record<'prefix' | 'name' | 'lease' | 'key', string>>[];
  readonly children: readonly {
    readonly name: string;
    readonly key: string;
    readonly entry: object | null;
  }[];
}

const file = new URL('../../formats.json', import.meta.url);
const { etcd } = JSON.parse(readFileSync(file, 'utf8')) as { readonly etcd: Vectors };

describe('the examples of etcd keys in formats.json', () => {
  for (const { prefix, name, lease, key } of etcd.keys)
    it(`are the keys that this package uses: ${key}`, () => {
      expect(queuePrefix(prefix, name) + leaseHex(lease)).to.equal(key);
      expect(readKey(queuePrefix(prefix, name), Buffer.from(key))).to.include({ key, shared: false });
    });

  for (const { name, key, entry } of etcd.children)
    it(`are recognized by this package as entries or not, as the file states: ${key}`, () => {
      const read = readKey(queuePrefix('', name), Buffer.from(key));
      if (entry === null) expect(read).to.equal(undefined);
      else expect(read).to.include(entry);
    });
});
