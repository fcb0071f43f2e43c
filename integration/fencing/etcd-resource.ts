import { etcdOutcome, heldInEtcd } from '@queuelock/fencing';
import { Etcd3 } from 'etcd3';
import { responseOf, type Resource } from './resource.ts';

/**
 * The resource in etcd to which fencing tests write: one key written with a fence, and one without. Its
 * address `place` is `host:port/prefix`.
 */
export const etcdResource: Resource = {
  async open(place, hold) {
    const { client, keys } = connect(place);
    return {
      async fenced(text) {
        const write = client.if(...heldInEtcd(hold)).then(client.put(keys.fenced).value(text));
        return responseOf(etcdOutcome(hold, write.commit()));
      },
      async unfenced(text) {
        await client.put(keys.unfenced).value(text);
        return 'accepted';
      },
      close: async () => client.close(),
    };
  },
  async texts(place) {
    const { client, keys } = connect(place);
    const [fenced, unfenced] = [await client.get(keys.fenced), await client.get(keys.unfenced)];
    client.close();
    return { fenced: String(fenced), unfenced: String(unfenced) };
  },
};

function connect(place: string): { client: Etcd3; keys: { fenced: string; unfenced: string } } {
  const [endpoint = '', prefix = ''] = place.split('/');
  const keys = { fenced: `${prefix}:fenced`, unfenced: `${prefix}:unfenced` };
  return { client: new Etcd3({ hosts: [endpoint] }), keys };
}
