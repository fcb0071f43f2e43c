// A process that steps.test.ts starts. It uses every function of the backend once. After that it must exit by
// itself.
import { sqlite } from '@queuelock/sqlite';
import { refusal, newSpec } from '@queuelock/harness/specs';

const [file = ''] = process.argv.slice(2);
const { signal } = new AbortController();

const lost = sqlite({ file: `${file}/nowhere/locks.db` });
await refusal(lost.open(10_000, signal));
await lost.close();

const [one, two] = [sqlite({ file }), sqlite({ file })];
const spec = newSpec();
const watching = [
  one.observe(spec.queue).subscribe(),
  one.queues!('').subscribe(),
  one.registers!.observe(spec.queue, 'life').subscribe(),
];
const [holder, waiter] = [await one.open(10_000, signal), await two.open(10_000, signal)];
await holder.enqueue(spec);
const following = (await waiter.enqueue(newSpec())).turns$.subscribe({ error: () => undefined });
await holder.renew(signal);
await holder.traces!.leave(spec.queue, spec.id);
await one.registers!.write(spec.queue, 'life', { text: 'over', was: undefined });
await holder.share!(spec.queue, spec.id, '');
await holder.remove(spec.queue, spec.id);
const { resumption } = holder;
await holder.abandon!();
await (await two.resume!(resumption!, signal)).close();
for (const subscription of watching) subscription.unsubscribe();
following.unsubscribe();
await one.close();
// Leaves one session open and one observer subscribed. Neither must keep the process alive.
two.observe(spec.queue).subscribe();
await two.close();
process.send?.('closed');
