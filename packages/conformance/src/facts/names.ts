import { expect } from 'chai';
import { isQueueLockError } from '@queuelock/core/backend';
import { fact, type Fact } from '../fact.ts';

const LONGEST_BYTES = 200;

/** Returns a name of the length that every store must accept. */
function longest(prefix: string, filler: string): string {
  const roomBytes = LONGEST_BYTES - Buffer.byteLength(prefix);
  const name = prefix + filler.repeat(Math.floor(roomBytes / Buffer.byteLength(filler)));
  return name + 'x'.repeat(LONGEST_BYTES - Buffer.byteLength(name));
}

/**
 * Groups of names that an incorrect encoding would map to the same queue. The test adds a random prefix to
 * each name.
 */
const FAMILIES: readonly (readonly [about: string, names: (unique: string) => readonly string[]])[] = [
  ['that nest', (u) => [u, `${u}/b`, `${u}/b/c`, `${u}/`, `${u}//b`, `/${u}`]],
  [
    'with dots',
    (u) => [`${u}/b`, `${u}/./b`, `${u}/c/../b`, `${u}/.`, `${u}/..`, `${u}.`, `${u}..`, `.${u}`, `..${u}`],
  ],
  [
    'with signs of encodings',
    (u) => [`${u} b`, `${u}%20b`, `${u}+b`, `${u}%2520b`, `${u}/b%`, `${u}%2Fb`, `${u}_b`, `${u}=b`],
  ],
  [
    'with quotes and blanks',
    (u) => [` ${u}`, `${u} `, `"${u}"`, `'${u}'`, `\`${u}\``, `${u}\\b`, `${u}\tb`, `${u}\nb`, `${u}\u0000b`],
  ],
  [
    'that look like stored entries',
    (u) => [
      `${u}-lock-0000000001`,
      `${u}/0000000001`,
      `${u}/694d8f3b2a7c5e01`,
      `${u}/w`,
      `${u}/r`,
      `_c_${u}`,
      `${u}:1`,
    ],
  ],
  ['of other scripts', (u) => [`${u}🔒`, `${u}🔓`, `${u}замок`, `${u}錠`, `${u}قفل`, `${u}ﷺ`]],
  [
    'that differ in case or normal form only',
    (u) => [`${u}a`, `${u}A`, `${u}\u00e9`, `${u}e\u0301`, `${u}\ufb01`, `${u}fi`],
  ],
  [
    'of 200 bytes',
    (u) => [
      longest(u, 'x'),
      longest(u, 'y'),
      longest(u, '🔒'),
      longest(u, '/'),
      `${longest(u, 'x').slice(0, -1)}y`,
    ],
  ],
];

/** Facts about the names of queues. */
export const nameFacts: readonly Fact[] = [
  ...FAMILIES.map(([about, names]) =>
    fact(`names ${about} are separate queues`, async (stage) => {
      const client = await stage.client();
      for (const queue of names(stage.queue)) {
        client.backend.checkName(queue);
        const contender = await client.enter({ queue, value: queue });
        await contender.untilAdmitted();
      }
      const observeOptions = await stage.connect();
      for (const queue of names(stage.queue)) {
        const watch = stage.watchOn(observeOptions, queue);
        expect((await watch.untilFirst()).map(({ value }) => value)).to.deep.equal([queue]);
      }
    }),
  ),

  fact('an empty name is refused with INVALID_ARGUMENT', async (stage) => {
    const backend = await stage.connect();
    expect(() => {
      backend.checkName('');
    })
      .to.throw()
      .that.satisfies((error: unknown) => isQueueLockError(error, 'INVALID_ARGUMENT'));
  }),
];
