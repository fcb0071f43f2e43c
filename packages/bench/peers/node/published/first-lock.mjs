// Takes the first lock of a fresh process with the published packages, and exits: first-lock.mjs KIND.
import { clientOver } from './backends.mjs';

const others = {
  'bare-node': async () => undefined,
  'etcd3-lock': async () => {
    const { Etcd3 } = await import('etcd3');
    await new Etcd3({ hosts: process.env.ETCD }).lock('start').ttl(30).acquire();
  },
};

async function ours(kind) {
  await (await clientOver(kind)).acquire(`start-${process.pid}`);
}

const kind = process.argv[2];
await (others[kind]?.() ?? ours(kind));
process.stdout.write('held\n');
process.exit(0);
