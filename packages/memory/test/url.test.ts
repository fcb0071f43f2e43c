import { expect } from 'chai';
import { createMemoryServer, fromUrl, memory } from '@queuelock/memory';
import { openSession, newSpec } from './actors.ts';

/** Returns whether clients that use these two URLs contend in the same queues. */
async function contend(
  first: ReturnType<typeof fromUrl>,
  second: ReturnType<typeof fromUrl>,
): Promise<boolean> {
  const [one, two] = [await openSession(first), await openSession(second)];
  await one.enqueue(newSpec());
  const { turn } = await two.enqueue(newSpec());
  await Promise.all([one.close(), two.close()]);
  await Promise.all([first.close(), second.close()]);
  return !turn.admitted;
}

describe('the URL of a memory server', () => {
  it('refers to one server in a process when it is used twice', async () => {
    expect(await contend(fromUrl('memory:one'), fromUrl('memory:one'))).to.equal(true);
    expect(await contend(fromUrl('memory:'), fromUrl('memory:'))).to.equal(true);
    expect(await contend(fromUrl('MEMORY:a%20b'), fromUrl('memory:a b'))).to.equal(true);
  });

  it('refers to a different server when it contains a different name', async () => {
    expect(await contend(fromUrl('memory:one'), fromUrl('memory:two'))).to.equal(false);
    expect(await contend(fromUrl('memory:'), fromUrl('memory:one'))).to.equal(false);
    expect(await contend(memory(), fromUrl('memory:'))).to.equal(false);
  });

  it('is shown as the endpoint', () => {
    expect(fromUrl('memory:one').info.endpoint).to.equal('memory:one');
    expect(memory().info.endpoint).to.equal('memory:');
    expect(memory({ server: createMemoryServer({ name: 'a b' }) }).info.endpoint).to.equal('memory:a%20b');
  });

  it('is refused with a host, a parameter or another scheme, without quoting secrets in the error', () => {
    for (const url of ['memory://host/one', 'memory:one?ttl=3', 'etcd://localhost', 'nothing']) {
      expect(() => fromUrl(url)).to.throw('INVALID_ARGUMENT');
    }
    expect(() => fromUrl('memory://user:hush@host')).to.throw(/^(?!.*hush)/);
  });
});
