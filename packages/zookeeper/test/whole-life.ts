// The process that exit.test.ts starts. It uses all functions, with a server and without one. After that it
// must exit by itself.
import { zookeeper } from '@queuelock/zookeeper';
import { SINGLE, admitted, newQueue, outcome, newSpec, newSpecs } from './bench.ts';

const [endpoint, transport = 'wire'] = process.argv.slice(2) as [string, ('native' | 'wire')?];
const options = { transport, ...SINGLE };
const { signal } = new AbortController();
const queue = newQueue();

const nowhere = zookeeper({ hosts: ['127.0.0.1:1'], connectTimeoutMs: 200, ...options });
if ((await outcome(nowhere.open(4_000, signal))) !== 'UNAVAILABLE')
  throw new Error('a server listens on port 1');
await nowhere.close();

const backend = zookeeper({ hosts: [endpoint], ...options });
const watching = backend.observe(queue).subscribe(() => undefined);
const [one, two] = [await backend.open(4_000, signal), await backend.open(4_000, signal)];
const held = newSpec(queue);
await one.enqueue(held);
const waiting = await two.enqueue(newSpec(queue));
const turn = admitted(waiting);
await one.renew(signal);
await one.remove(queue, held.id);
await turn;
const pair = newSpecs(newQueue(), newQueue());
await one.enqueueAll!(pair);
await one.share!(pair[0]!.queue, pair[0]!.id, 'shared');
const { key, order } = await one.enqueue(pair[1]!);
await backend.evict!(pair[1]!.queue, { key, order });
const registers = backend.registers!;
const register = registers.observe(queue, 'limit').subscribe(() => undefined);
await registers.write(queue, 'limit', { text: '5', was: undefined });
const version = (await registers.read(queue, 'limit'))!.version;
await registers.write(queue, 'limit', { text: undefined, was: version });
await one.abandon!();
await (
  await backend.resume!(one.resumption!, signal)
).abandon!();
register.unsubscribe();
watching.unsubscribe();
await two.close();
await backend.close();
process.send!('closed');
