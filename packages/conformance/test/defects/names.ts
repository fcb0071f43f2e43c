import { posix } from 'node:path';
import { names, type Defects } from '../defective.ts';

/** Defects of the names of queues. */
export const nameDefects: Defects = [
  [
    'stores parts of a path',
    () => names((queue) => queue.split('/').find(Boolean) ?? ''),
    ['names that nest are separate queues'],
  ],
  [
    'walks paths',
    () => names((queue) => posix.normalize(queue)),
    ['names with dots are separate queues', 'names that nest are separate queues'],
  ],
  [
    'takes an escape for what it stands for',
    () => names((queue) => queue.replace(/%20|\+/g, ' ')),
    ['names with signs of encodings are separate queues'],
  ],
  ['trims names', () => names((queue) => queue.trim()), ['names with quotes and blanks are separate queues']],
  [
    'takes names for entries',
    () => names((queue) => queue.replace(/(-lock-|\/)\d{10}$/, '')),
    ['names that look like stored entries are separate queues'],
  ],
  [
    'knows ASCII only',
    () => names((queue) => queue.replace(/[^ -~]/g, '?')),
    ['names of other scripts are separate queues'],
  ],
  [
    'ignores case',
    () => names((queue) => queue.toLowerCase()),
    ['names that differ in case or normal form only are separate queues'],
  ],
  [
    'normalizes names',
    () => names((queue) => queue.normalize('NFC')),
    ['names that differ in case or normal form only are separate queues'],
  ],
  [
    'cuts long names',
    () => names((queue) => queue.slice(0, 100)),
    ['names of 200 bytes are separate queues'],
  ],
  [
    'takes any name',
    () => ({ backend: () => ({ checkName: () => undefined }) }),
    ['an empty name is refused with INVALID_ARGUMENT'],
  ],
];
