// The tests of packages/recipes are imported by path, because no package exports them.
/* eslint-disable no-restricted-imports */
import { callerContextFacts } from '../../packages/recipes/test/facts/caller-context.ts';
import { throwingCallbackFacts } from '../../packages/recipes/test/facts/throwing-callbacks.ts';
import { describeRecipes } from '../../packages/recipes/test/frame.ts';
/* eslint-enable no-restricted-imports */
import { fromUrl as etcdFromUrl } from '@queuelock/etcd';
import { fromUrl as zooKeeperFromUrl } from '@queuelock/zookeeper';
import { etcdStore } from '../scenarios/etcd-store.ts';
import { zooKeeperStore } from '../scenarios/zookeeper-store.ts';
import { openStore } from './sites.ts';

/** The transports that the option `transport` of a store's URL can select. */
const TRANSPORTS = [
  { store: etcdStore, transport: 'etcd3', fromUrl: etcdFromUrl },
  { store: etcdStore, transport: 'http2', fromUrl: etcdFromUrl },
  { store: etcdStore, transport: 'socket', fromUrl: etcdFromUrl },
  { store: zooKeeperStore, transport: 'native', fromUrl: zooKeeperFromUrl },
  { store: zooKeeperStore, transport: 'wire', fromUrl: zooKeeperFromUrl },
] as const;

for (const { store, transport, fromUrl } of TRANSPORTS)
  describeRecipes(
    `${store.name} over ${transport}`,
    async () => {
      const shared = await store.share(`the caller's context over ${transport}`);
      const withTransport = new URL(shared.url());
      withTransport.searchParams.set('transport', transport);
      return { ...(await openStore(store)), connect: () => fromUrl(String(withTransport)) };
    },
    [
      { recipe: "the caller's context", facts: callerContextFacts },
      { recipe: 'callbacks that throw', facts: throwingCallbackFacts },
    ],
  );
