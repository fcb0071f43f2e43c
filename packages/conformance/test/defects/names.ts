import { posix } from 'node:path';
import { names, type Defects } from '../defective.ts';

/** Seeded defects in the encoding of queue names, which the conformance suite must detect. */
export const nameDefects: Defects = [
  [
    'stores only a part of a path',
    () => names((queue) => queue.split('/').find(Boolean) ?? ''),
    ['names that nest are separate queues'],
  ],
  [
    'resolves dots in paths',
    () => names((queue) => posix.normalize(queue)),
    ['names with dots are separate queues', 'names that nest are separate queues'],
  ],
  [
    'decodes an escape sequence in a name',
    () => names((queue) => queue.replace(/%20|\+/g, ' ')),
    ['names with signs of encodings are separate queues'],
  ],
  ['trims names', () => names((queue) => queue.trim()), ['names with quotes and blanks are separate queues']],
  [
    'takes parts of names for entries',
    () => names((queue) => queue.replace(/(-lock-|\/)\d{10}$/, '')),
    ['names that look like stored entries are separate queues'],
  ],
  [
    'stores only ASCII',
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
    'truncates long names',
    () => names((queue) => queue.slice(0, 100)),
    ['names of 200 bytes are separate queues'],
  ],
  [
    'accepts an empty name',
    () => ({ backend: () => ({ checkName: () => undefined }) }),
    ['an empty name is refused with INVALID_ARGUMENT'],
  ],
];
