import { expect } from 'chai';
import fc from 'fast-check';
import { JuteReader } from '../../src/wire/jute-read.ts';
import { JuteWriter } from '../../src/wire/jute-write.ts';
import { WireError } from '../../src/wire/wire-error.ts';

/** A kind of field, with the functions that write and read it. */
interface Field {
  readonly put: (writer: JuteWriter) => unknown;
  readonly get: (reader: JuteReader) => unknown;
  readonly value: unknown;
}

const texts = fc.string({ unit: 'binary', maxLength: 400 });

const fields: fc.Arbitrary<Field> = fc.oneof(
  fc.boolean().map((value) =>
    field(
      value,
      (writer) => writer.bool(value),
      (reader) => reader.bool(),
    ),
  ),
  fc.integer().map((value) =>
    field(
      value,
      (writer) => writer.int(value),
      (reader) => reader.int(),
    ),
  ),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) =>
    field(
      value,
      (writer) => writer.long(value),
      (reader) => reader.long(),
    ),
  ),
  texts.map((value) =>
    field(
      value,
      (writer) => writer.text(value),
      (reader) => reader.text(),
    ),
  ),
  fc.option(fc.uint8Array({ maxLength: 2_000 }), { nil: undefined }).map((value) =>
    field(
      value && Buffer.from(value),
      (writer) => writer.buffer(value),
      (reader) => reader.buffer(),
    ),
  ),
  fc.array(texts, { maxLength: 20 }).map((value) =>
    field(
      value,
      (writer) => writer.list(value, (one, text) => one.text(text)),
      (reader) => reader.list((one) => one.text()),
    ),
  ),
);

function field(value: unknown, put: Field['put'], get: Field['get']): Field {
  return { value, put, get };
}

describe("records in ZooKeeper's encoding (jute)", () => {
  it('are read as they were written', () => {
    fc.assert(
      fc.property(fc.array(fields), (record) => {
        const writer = new JuteWriter();
        for (const { put } of record) put(writer);
        const reader = new JuteReader(writer.bytes());
        expect(record.map(({ get }) => get(reader))).to.deep.equal(record.map(({ value }) => value));
        expect(reader.left).to.equal(0);
      }),
    );
  });

  it('are refused when they end too early, at any byte', () => {
    fc.assert(
      fc.property(
        fc.array(fields, { minLength: 1 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        (record, part) => {
          const writer = new JuteWriter();
          for (const { put } of record) put(writer);
          const bytes = writer.bytes();
          const reader = new JuteReader(bytes.subarray(0, Math.floor(part * bytes.length)));
          expect(() => record.map(({ get }) => get(reader))).to.throw(WireError);
        },
      ),
    );
  });

  it('have the bytes that the format defines', () => {
    const writer = new JuteWriter().bool(true).int(-2).long(-3n).text('é').buffer(undefined);
    writer.list(['a', ''], (one, text) => one.text(text));
    expect(writer.bytes().toString('hex')).to.equal(
      [
        '01',
        'fffffffe',
        'fffffffffffffffd',
        '00000002c3a9',
        'ffffffff',
        '00000002',
        '0000000161',
        '00000000',
      ].join(''),
    );
  });

  it('take no memory for a list that claims to have more items than there are bytes', () => {
    const reader = new JuteReader(new JuteWriter().int(2 ** 31 - 1).bytes());
    expect(() => reader.list((one) => one.text())).to.throw(WireError, '2147483647 items in 0 bytes');
  });

  it('are read as empty if a text or a list is missing', () => {
    const reader = new JuteReader(new JuteWriter().int(-1).int(-1).bytes());
    expect([reader.text(), reader.list((one) => one.text())]).to.deep.equal(['', []]);
  });
});
