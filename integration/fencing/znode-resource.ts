import { decodeFencedData, fencedZnode, npmZookeeper } from '@queuelock/fencing';
import { openSession } from './znode-session.ts';
import { responseOf, type Resource } from './resource.ts';

/**
 * The resource in ZooKeeper to which fencing tests write: one znode written with a fence, and one without.
 * Its address `place` is `host:port/name`.
 */
export const znodeResource: Resource = {
  async open(place, hold) {
    const { endpoint, paths } = split(place);
    const session = await openSession(endpoint);
    const client = npmZookeeper(session);
    const node = fencedZnode(client, paths.fenced, hold);
    return {
      fenced: async (text) => responseOf(node.write(text)),
      unfenced: async (text) =>
        (await client.set(paths.unfenced, Buffer.from(text), -1)) ? 'accepted' : 'refused',
      close: async () => session.close(),
    };
  },
  async texts(place) {
    const { endpoint, paths } = split(place);
    const session = await openSession(endpoint);
    const client = npmZookeeper(session);
    const [fenced, unfenced] = [await client.get(paths.fenced), await client.get(paths.unfenced)];
    session.close();
    return {
      fenced: Buffer.from(decodeFencedData(fenced!.data).data).toString(),
      unfenced: Buffer.from(unfenced!.data).toString(),
    };
  },
};

function split(place: string): { endpoint: string; paths: { fenced: string; unfenced: string } } {
  const [endpoint = '', name = ''] = place.split('/');
  return { endpoint, paths: { fenced: `/${name}-fenced`, unfenced: `/${name}-unfenced` } };
}
