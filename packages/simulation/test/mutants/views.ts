import { mutant, type Mutant } from '../mutant.ts';

export const VIEWS: readonly Mutant[] = [
  mutant('a view still shows removed entries', 'view', [
    'etcd/src/queue/observed-queue.ts',
    'else if (this.#entries.delete(text)) this.#changed = true;',
    'else this.#entries.delete(text);',
  ]),
  mutant('a broken view is not renewed', 'view', [
    'core/src/views/live-view.ts',
    '    repeat({ delay: () => after(clock, backoffDelay(failures++, PAUSES, clock)) }),\n',
    '',
  ]),
  mutant('a view sorts a queue by key instead of age', 'view', [
    'etcd/src/views/observe.ts',
    "sort_target: 'Create',",
    "sort_target: 'Key',",
  ]),
  mutant('a view does not show entries from before it began', 'view', [
    'etcd/src/queue/observed-queue.ts',
    'for (const kv of [...marks.kvs, ...entries.kvs])',
    'for (const kv of marks.kvs)',
  ]),
  mutant('a view shows the past after a stale read', 'view', [
    'etcd/src/views/observe.ts',
    '        noteRevision(connection, notification.events);\n',
    '',
  ]),
];
