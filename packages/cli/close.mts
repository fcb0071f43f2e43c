import net from 'node:net';
import { createLockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
import { mysql } from '@queuelock/mysql';
import { redis } from '@queuelock/redis';
import { etcd } from '@queuelock/etcd';
import { zookeeper } from '@queuelock/zookeeper';
import { consul } from '@queuelock/consul';
const s = net.createServer(() => {}).listen(0, '127.0.0.1');
await new Promise((r) => s.once('listening', r));
const p = (s.address() as any).port;
const all: Record<string, () => any> = {
  postgres: () => postgres({ url: `postgres://u:p@127.0.0.1:${p}/db` }),
  mysql: () => mysql({ url: `mysql://u:p@127.0.0.1:${p}/db` }),
  redis: () => redis({ url: `redis://127.0.0.1:${p}` }),
  etcd: () => etcd({ hosts: `127.0.0.1:${p}` }),
  etcd3: () => etcd({ hosts: `127.0.0.1:${p}`, transport: 'etcd3' }),
  zookeeper: () => zookeeper({ hosts: [`127.0.0.1:${p}`] }),
  consul: () => consul({ url: `http://127.0.0.1:${p}` } as any),
};
for (const [n, f] of Object.entries(all)) {
  try {
    const c = createLockClient(f());
    const a = new AbortController();
    const got = c.acquire('x', { signal: a.signal }).catch((e: any) => e.name + ' ' + (e.code ?? ''));
    await new Promise((r) => setTimeout(r, 300));
    let t = Date.now();
    a.abort();
    const e = await got;
    const ab = Date.now() - t;
    t = Date.now();
    await c.close();
    console.log(n, 'abort', ab, e, 'close', Date.now() - t);
  } catch (e) {
    console.log(n, e);
  }
}
s.close();
const t = Date.now();
process.on('exit', () => console.log('exit after', Date.now() - t));
