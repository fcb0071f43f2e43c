import { mutant, type Mutant } from '../mutant.ts';

export const VIEWS: readonly Mutant[] = [
  mutant('what has gone is still shown', 'view', [
    'etcd/src/queue/observed-queue.ts',
    'else if (this.#entries.delete(text)) this.#changed = true;',
    'else this.#entries.delete(text);',
  ]),
  mutant('a view that broke is not made anew', 'view', [
    'core/src/views/live-view.ts',
    '    repeat({ delay: () => after(clock, backoffDelay(troubles++, PAUSES, clock)) }),\n',
    '',
  ]),
  mutant('a queue is shown by its keys and not by their age', 'view', [
    'etcd/src/views/observe.ts',
    "sort_target: 'Create',",
    "sort_target: 'Key',",
  ]),
  mutant('what was there before is not shown', 'view', [
    'etcd/src/queue/observed-queue.ts',
    'for (const kv of [...marks.kvs, ...entries.kvs])',
    'for (const kv of marks.kvs)',
  ]),
];
