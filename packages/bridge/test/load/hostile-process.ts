// Simulates one machine that attacks the bridge: with many lists, unread streams, reconnections, joins and
// slow requests at once.
import { connect } from 'node:net';
import { Visitor } from './requests.ts';

const [url = ''] = process.argv.slice(2);
const LISTS = ['queues', 'sessions', 'deadlocks', 'faults'] as const;
const statuses = new Map<number, number>();
const visitor = new Visitor(url, 65_000);

function count(status = 0): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

/** Returns 64 distinct prefixes of queue names. Each matches all queues, some of them, or none. */
function prefixesOf(stream: number): readonly string[] {
  return Array.from(
    { length: 64 },
    (_, n) => 'queue-0'.slice(0, 1 + (n % 7)) + (n < 7 ? '' : String(stream)),
  );
}

/** Opens a stream of the bridge with lists for many prefixes, and reads it as fast as it arrives. */
async function readLists(stream: number): Promise<void> {
  const topics = prefixesOf(stream).map((prefix, n) => ({ kind: LISTS[n % 4], prefix }));
  const response = await visitor.stream(topics);
  count(response.statusCode);
  response.resume();
}

/** Opens streams of the bridge, and never reads their snapshots. */
async function readNothing(stream: number): Promise<void> {
  const prefixes = Array.from({ length: 8 }, (_, n) => 'queue-0'.slice(0, n));
  const response = await visitor.stream(prefixes.map((prefix) => ({ kind: 'queues', prefix })));
  count(response.statusCode);
  if (stream < 0) response.resume();
}

async function again(work: (round: number) => Promise<void>): Promise<never> {
  for (let round = 0; ; round += 1) await work(round).catch(() => count());
}

/** Opens a stream of the bridge with new topics, and closes it at once. */
async function reconnect(round: number): Promise<void> {
  const topics = Array.from({ length: 64 }, (_, n) => ({
    kind: 'queue',
    name: `name ${String(round)}/${String(n)}`,
  }));
  const response = await visitor.stream(topics);
  count(response.statusCode);
  response.destroy();
}

async function joinAndLeave(round: number): Promise<void> {
  const key = { id: (2 ** 40 + round).toString(16).padStart(24, 'f'), secret: 's'.repeat(32) };
  const metadata = { label: 'x'.repeat(500) };
  await visitor.post('joins', { name: `taken ${String(round)}`, owner: 'x'.repeat(200), metadata, key });
  await visitor.post(`joins/${key.id}/leave`, { secret: key.secret });
}

/** Opens connections to the bridge that send the beginning of a request and never the rest. */
function sendSlowly(): void {
  const { hostname, port } = new URL(url);
  for (let n = 0; n < 200; n += 1) {
    const socket = connect({ host: hostname, port: Number(port), localAddress: '127.1.253.232' });
    socket.on('error', () => count());
    socket.write('POST /queuelock/v2/stream HTTP/1.1\r\nhost: localhost\r\ncontent-length: 200000\r\n\r\n{');
  }
}

await visitor.start();
for (let stream = 0; stream < 8; stream += 1) await readLists(stream);
for (let stream = 0; stream < 100; stream += 1) await readNothing(stream);
sendSlowly();
for (let n = 0; n < 4; n += 1) {
  void again(reconnect);
  void again(joinAndLeave);
}
process.send?.('ready');
process.on('message', () => process.send?.([...statuses]));
process.on('disconnect', () => process.exit());
