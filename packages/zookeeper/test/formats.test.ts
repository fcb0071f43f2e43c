import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { entriesIn, parseContender } from '../src/queue/entries.ts';
import { queuePath } from '../src/queue/names.ts';
import { schemeOf, type Naming } from '../src/queue/naming.ts';

interface Vectors {
  readonly paths: readonly Readonly<Record<'name' | 'path', string>>[];
  readonly children: readonly {
    readonly naming: Naming;
    readonly child: string;
    readonly entry: object | null;
  }[];
  readonly orders: readonly {
    readonly naming: Naming;
    readonly children: readonly string[];
    readonly order: readonly string[];
  }[];
}

const file = new URL('../../formats.json', import.meta.url);
const { zookeeper } = JSON.parse(readFileSync(file, 'utf8')) as { readonly zookeeper: Vectors };

describe('the test vectors of ZooKeeper in formats.json', () => {
  for (const { name, path } of zookeeper.paths)
    it(`give a queue the same path as this package does: ${path}`, () => {
      expect(queuePath('', name)).to.equal(path);
    });

  for (const { naming, child, entry } of zookeeper.children)
    it(`contain an entry that this package parses: ${child}`, () => {
      const read = parseContender(child, schemeOf(naming));
      if (entry === null) expect(read).to.equal(undefined);
      else expect(read).to.deep.equal({ name: child, ...entry });
    });

  for (const { naming, children, order } of zookeeper.orders)
    it(`contain entries that this package puts in the same order: ${order.join(', ')}`, () => {
      expect(entriesIn(children, schemeOf(naming)).map(({ name }) => name)).to.deep.equal(order);
    });
});
