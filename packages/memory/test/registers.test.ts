import { expect } from 'chai';
import type { Register } from '@queuelock/core/backend';
import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { codeOf, record } from './actors.ts';

describe('registers of a memory server', () => {
  const server = createMemoryServer({ clock: virtualClock() });
  const backend = memory({ server });
  const { registers } = backend;
  if (!registers) throw new Error('memory has registers');

  const write = async (text: string | undefined, was: Register | undefined): Promise<boolean> =>
    registers.write('q', 'limit', { text, was: was?.version });

  afterEach(async () => {
    expect(await write(undefined, await registers.read('q', 'limit'))).to.equal(true);
    expect(server.registerCount).to.equal(0);
    expect(server.watcherCount).to.equal(0);
  });

  it('are empty at first, and are written by compare-and-set', async () => {
    expect(await registers.read('q', 'limit')).to.equal(undefined);
    expect(await registers.write('q', 'limit', { text: 'x', was: '1' })).to.equal(false);
    expect(await write('5', undefined)).to.equal(true);
    expect(await write('6', undefined)).to.equal(false);
    const first = await registers.read('q', 'limit');
    expect(first?.text).to.equal('5');
    expect(await write('6', first)).to.equal(true);
    expect(await write('7', first)).to.equal(false);
    expect((await registers.read('q', 'limit'))?.text).to.equal('6');
  });

  it('get another version with each write, even of the same text', async () => {
    const versions = new Set<string | undefined>();
    for (const text of ['same', 'same', undefined, 'same']) {
      await write(text, await registers.read('q', 'limit'));
      versions.add((await registers.read('q', 'limit'))?.version);
    }
    expect(versions.size).to.equal(4);
  });

  it('emit each write synchronously to their observers', async () => {
    const [own, other] = [record(registers.observe('q', 'limit')), record(registers.observe('q', 'holds'))];
    void write('5', undefined);
    await write('never', undefined);
    await write(undefined, await registers.read('q', 'limit'));
    const texts = own.seen.map((seen) => (typeof seen === 'object' ? seen.text : seen));
    expect(texts).to.deep.equal([undefined, '5', undefined]);
    expect(other.seen).to.deep.equal([undefined]);
    own.stop();
    other.stop();
  });

  it('refuse observers and reads with CLOSED after the backend is closed', async () => {
    const closed = memory({ server });
    await closed.close();
    expect(record(closed.registers!.observe('q', 'limit')).seen).to.deep.equal(['CLOSED']);
    expect(await codeOf(closed.registers!.read('q', 'limit'))).to.equal('CLOSED');
  });

  it('refuse an invalid kind, and a text with too many bytes', async () => {
    for (const kind of ['', 'Limit', 'a-b', 'x'.repeat(17)]) {
      expect(await codeOf(registers.read('q', kind))).to.equal('INVALID_ARGUMENT');
    }
    expect(await codeOf(write('€'.repeat(1_366), undefined))).to.equal('INVALID_ARGUMENT');
    expect(await write('€'.repeat(1_365), undefined)).to.equal(true);
  });
});
