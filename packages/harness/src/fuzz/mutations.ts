import fc from 'fast-check';

/** A range of bytes in an input: its offset (`place`) and its length (`count`). */
interface Range {
  readonly place: number;
  readonly count: number;
}

/** A function that changes an input. It takes byte offsets modulo the length of the input. */
type Mutation = (input: Buffer) => Buffer;

// Limits of integer types and their neighbours. Code that reads lengths and counts from data often fails at
// them.
const LENGTHS = [0, 1, 2, 0x7f, 0x80, 0xff, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff];
const BYTES = [0, 1, 0x0a, 0x0d, 0x22, 0x5c, 0x7b, 0x7f, 0x80, 0xc0, 0xed, 0xfe, 0xff];
const MAX_REPEATS = 64;

const byte = fc.oneof(fc.nat(255), fc.constantFrom(...BYTES));

/** Generates inputs for the code under test: mutated examples, several of them joined, and random bytes. */
export function inputs(corpus: readonly Buffer[], isJson: boolean): fc.Arbitrary<Buffer> {
  const example = fc.constantFrom(...corpus);
  const mutated = fc
    .tuple(
      isJson ? fc.oneof(example, mutatedJson(corpus)) : example,
      fc.array(mutation(corpus), { maxLength: 5 }),
    )
    .map(([start, mutations]) => mutations.reduce((input, mutate) => mutate(input), start));
  const random = fc.uint8Array({ maxLength: 200 }).map((bytes) => Buffer.from(bytes));
  return isJson
    ? fc.oneof({ arbitrary: mutatedJson(corpus), weight: 5 }, { arbitrary: mutated, weight: 4 }, random)
    : fc.oneof({ arbitrary: mutated, weight: 9 }, random);
}

function mutation(corpus: readonly Buffer[]): fc.Arbitrary<Mutation> {
  const at = fc.nat();
  const overwrite = fc.tuple(at, byte).map(([place, value]): Mutation => (input) => {
    const changed = Buffer.from(input);
    if (changed.length > 0) changed[place % changed.length] = value;
    return changed;
  });
  const number = fc.tuple(at, fc.constantFrom(...LENGTHS)).map(([place, value]): Mutation => (input) => {
    const changed = Buffer.from(input);
    if (changed.length >= 4) changed.writeUInt32BE(value, place % (changed.length - 3));
    return changed;
  });
  const insert = fc.tuple(at, fc.uint8Array({ minLength: 1, maxLength: 8 })).map(
    ([place, bytes]): Mutation =>
      (input) =>
        replaced(input, { place, count: 0 }, Buffer.from(bytes)),
  );
  const remove = fc.tuple(at, fc.integer({ min: 1, max: 16 })).map(
    ([place, count]): Mutation =>
      (input) =>
        replaced(input, { place, count }, Buffer.alloc(0)),
  );
  const cut = at.map(
    (place): Mutation =>
      (input) =>
        input.subarray(0, place % (input.length + 1)),
  );
  const repeat = fc
    .tuple(at, fc.integer({ min: 1, max: 32 }), fc.integer({ min: 1, max: MAX_REPEATS }))
    .map(([place, count, times]): Mutation => (input) => {
      const begin = place % (input.length + 1);
      const piece = input.subarray(begin, begin + count);
      return replaced(input, { place: begin, count: 0 }, Buffer.concat(Array<Buffer>(times).fill(piece)));
    });
  const splice = fc.tuple(at, fc.constantFrom(...corpus), at).map(
    ([place, other, from]): Mutation =>
      (input) =>
        replaced(input, { place, count: 0 }, other.subarray(from % (other.length + 1))),
  );
  return fc.oneof(overwrite, number, insert, remove, cut, repeat, splice);
}

/** Replaces `count` bytes of the input by another piece of bytes. */
function replaced(input: Buffer, { place, count }: Range, piece: Buffer): Buffer {
  const begin = place % (input.length + 1);
  return Buffer.concat([input.subarray(0, begin), piece, input.subarray(begin + count)]);
}

const HOSTILE: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e308,
  2 ** 53,
  -(2 ** 63),
  '',
  '0',
  '-1',
  'NaN',
  '\u0000',
  '\ud800',
  '\u202e',
  '__proto__',
  'x'.repeat(5_000),
  [],
  {},
  [null],
  [[[[[[]]]]]],
  { length: 1e9 },
  { toString: 1 },
  { then: 1 },
];

/** Generates JSON texts that have one to three values of an example replaced, removed or renamed. */
function mutatedJson(corpus: readonly Buffer[]): fc.Arbitrary<Buffer> {
  const value = fc.oneof(fc.constantFrom(...HOSTILE), fc.jsonValue({ maxDepth: 3 }));
  const change = fc.record({
    at: fc.nat(),
    kind: fc.constantFrom('replace', 'replace', 'remove', 'rename'),
    value,
  });
  return fc
    .tuple(fc.constantFrom(...corpus), fc.array(change, { minLength: 1, maxLength: 3 }))
    .map(([example, changes]) => {
      const root = { value: parsed(example) };
      for (const { at, kind, value: newValue } of changes) {
        const places = placesIn(root);
        const [parent, key] = places[at % places.length] as Place;
        if (kind === 'replace' || parent === root) define(parent, key, structuredClone(newValue));
        else if (kind === 'remove') Reflect.deleteProperty(parent, key);
        else define(parent, nameIn(parent, newValue), parent[key]);
      }
      return Buffer.from(JSON.stringify(root.value));
    });
}

type Place = readonly [parent: Record<string, unknown>, key: string];

function parsed(example: Buffer): unknown {
  try {
    return JSON.parse(example.toString());
  } catch {
    return example.toString();
  }
}

/**
 * Returns the key for a value that is added to `parent`: the next index of a JSON array, or a name in a JSON
 * object.
 */
function nameIn(parent: object, value: unknown): string {
  if (Array.isArray(parent)) return String(parent.length);
  return typeof value === 'string' ? value.slice(0, 20) : 'other';
}

/** Sets an own property of any name. A plain assignment to `__proto__` would replace the prototype instead. */
function define(parent: object, key: string, value: unknown): void {
  Object.defineProperty(parent, key, { value, enumerable: true, configurable: true, writable: true });
}

function placesIn(parent: object): Place[] {
  return Object.entries(parent).flatMap(([key, value]: [string, unknown]) => [
    [parent as Record<string, unknown>, key] as const,
    ...(typeof value === 'object' && value !== null ? placesIn(value) : []),
  ]);
}
