import { mistake, type Mistake } from '../mistake.ts';

export const VIEWS: readonly Mistake[] = [
  mistake('what has gone is still shown', 'view', [
    'etcd/src/queue/seen-queue.ts',
    'else if (this.#entries.delete(text)) this.#changed = true;',
    'else this.#entries.delete(text);',
  ]),
  mistake('a view that broke is not made anew', 'view', [
    'core/src/views/live-view.ts',
    '    repeat({ delay: () => after(clock, pauseAfter(troubles++, PAUSES, clock)) }),\n',
    '',
  ]),
  mistake('a queue is shown by its keys and not by their age', 'view', [
    'etcd/src/views/observe.ts',
    "sort_target: 'Create',",
    "sort_target: 'Key',",
  ]),
  mistake('what was there before is not shown', 'view', [
    'etcd/src/queue/seen-queue.ts',
    'for (const kv of [...marks.kvs, ...entries.kvs])',
    'for (const kv of marks.kvs)',
  ]),
];
