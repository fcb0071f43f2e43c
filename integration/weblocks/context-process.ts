/** Runs a web worker or a frame in a separate process. Arguments: an `Origin` as JSON, and the script. */
import { locksAt, type Origin } from './origin.ts';
import { ScriptScope } from './scope.ts';

/**
 * Commands that the page sends to a worker or a frame. The process responds to each one with `done` and the
 * number of the command.
 */
export type ContextOrder = { readonly number: number } & (
  | { readonly order: 'hear'; readonly data: unknown }
  | { readonly order: 'hold'; readonly name: string }
);

/** Messages that a worker or a frame sends to the page. */
export type ContextNews =
  | { readonly news: 'ready' }
  | { readonly news: 'done'; readonly number: number }
  | { readonly news: 'posted'; readonly data: unknown };

const [origin = '', script = ''] = process.argv.slice(2);
const report = (news: ContextNews): void => void process.send?.(news);
const locks = await locksAt(JSON.parse(origin) as Origin);
const scope = new ScriptScope(script, locks, (data) => report({ news: 'posted', data }));

process.on('message', (order: ContextOrder) => {
  const done = order.order === 'hear' ? scope.hear(order.data) : scope.hold(order.name);
  void done.then(() => report({ news: 'done', number: order.number }));
});
// The process ends when the page that created it has ended.
process.on('disconnect', () => process.exit());
report({ news: 'ready' });
