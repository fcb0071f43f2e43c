// Simulates pages that each watch a queue and hold a lock. Measures how long the bridge takes to respond to
// touches, the requests by which a page keeps its lock.
import { Visitor } from './requests.ts';

const [url = '', count = '0'] = process.argv.slice(2);
const TOUCH_EVERY_MS = 1_000;
let delays: number[] = [];
let lost = 0;

async function read(number: number): Promise<void> {
  const page = new Visitor(url, number);
  await page.start();
  const key = { id: number.toString(16).padStart(24, '0'), secret: 's'.repeat(32) };
  await page.post('joins', { name: `page-${String(number)}`, key });
  const topics = [
    { kind: 'queue', name: `queue-${String(number).padStart(4, '0')}` },
    { kind: 'join', ...key },
    // One simulated page in twenty also watches the list of all queues.
    ...(number % 20 === 0 ? [{ kind: 'queues', prefix: '' }] : []),
  ];
  const stream = await page.stream(topics);
  stream.resume();
  // Counts a join as lost when the page's connection breaks, or when the response to a touch reports that the
  // bridge does not know the join.
  const onLoss = (): void => void (lost += 1);
  stream.on('error', onLoss);
  setInterval(() => void touch(page, key).catch(onLoss), TOUCH_EVERY_MS);
}

async function touch(page: Visitor, key: { readonly id: string; readonly secret: string }): Promise<void> {
  const sentAt = performance.now();
  const response = await page.post('joins/touch', { joins: [key] });
  delays.push(performance.now() - sentAt);
  if (!response.includes('"known":true')) lost += 1;
}

for (let number = 1; number <= Number(count); number += 1) await read(number);
process.send?.('ready');
process.on('message', () => {
  process.send?.({ delays, lost });
  delays = [];
});
process.on('disconnect', () => process.exit());
