import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import protobuf from 'protobufjs';
import * as methods from '../src/wire/http2-methods.ts';
import { decoded, type Decode } from '../src/wire/wire-read.ts';
import { framed, type Encode } from '../src/wire/wire-write.ts';

/** The options of protobufjs with which npm etcd3 decodes messages. */
const AS_ETCD3 = { longs: String, enums: String, defaults: true, oneofs: false, arrays: true } as const;
const PREFIX = 5;

const TYPES: Readonly<Record<string, readonly [request: string, response: string]>> = {
  range: ['RangeRequest', 'RangeResponse'],
  put: ['PutRequest', 'PutResponse'],
  deleteRange: ['DeleteRangeRequest', 'DeleteRangeResponse'],
  txn: ['TxnRequest', 'TxnResponse'],
  leaseGrant: ['LeaseGrantRequest', 'LeaseGrantResponse'],
  leaseRevoke: ['LeaseRevokeRequest', 'LeaseRevokeResponse'],
  leaseTimeToLive: ['LeaseTimeToLiveRequest', 'LeaseTimeToLiveResponse'],
  status: ['StatusRequest', 'StatusResponse'],
  authenticate: ['AuthenticateRequest', 'AuthenticateResponse'],
  watch: ['WatchRequest', 'WatchResponse'],
  keepAlive: ['LeaseKeepAliveRequest', 'LeaseKeepAliveResponse'],
};

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  fc.nat().map(String),
  fc.maxSafeNat(),
  fc.constantFrom('-1', '127', '128', '268435455', '268435456', 2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER),
);
/** Generates byte strings whose lengths are near those at which the length prefix needs one more byte. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 20 }).map((array) => Buffer.from(array)),
  fc.constantFrom(0, 1, 120, 127, 128, 130, 16_383, 16_384, 20_000).map((length) => Buffer.alloc(length, 7)),
);

/** Generates messages of the given protobuf type. They are nested at most as deep as a transaction within a transaction. */
function messageOf(type: protobuf.Type, depth = 0): fc.Arbitrary<Record<string, unknown>> {
  const properties: Record<string, fc.Arbitrary<unknown>> = {};
  type.resolveAll();
  for (const field of type.fieldsArray) {
    const one = valueOf(field, depth);
    if (one) properties[field.name] = field.repeated ? fc.array(one, { maxLength: 3 }) : one;
  }
  return fc.record(properties, { requiredKeys: [] });
}

function valueOf({ type, resolvedType }: protobuf.Field, depth: number): fc.Arbitrary<unknown> | undefined {
  if (resolvedType instanceof protobuf.Enum) return fc.constantFrom(...Object.keys(resolvedType.values));
  if (resolvedType instanceof protobuf.Type)
    return depth > 3 ? undefined : messageOf(resolvedType, depth + 1);
  if (type === 'bytes') return bytes;
  if (type === 'string') return fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant('é'.repeat(100)));
  return type === 'bool' ? fc.boolean() : int64;
}

function sent(type: protobuf.Type, message: object): Buffer {
  return Buffer.from(type.encode(type.fromObject(message)).finish());
}

/** Checks that each property of `part` has the same value in `whole`. `whole` may have further properties, which this package does not read. */
function isPartOf(part: unknown, whole: unknown): void {
  if (Buffer.isBuffer(part)) expect(part.equals(whole as Buffer)).to.equal(true);
  else if (Array.isArray(part)) {
    expect(whole).to.have.length(part.length);
    part.forEach((one, i) => isPartOf(one, (whole as unknown[])[i]));
  } else if (typeof part === 'object' && part !== null)
    for (const [name, value] of Object.entries(part))
      isPartOf(value, (whole as Record<string, unknown>)[name]);
  else expect(part).to.equal(whole);
}

describe('the messages of etcd over http2', () => {
  let root: protobuf.Root;
  before(() => {
    const etcd3 = dirname(createRequire(import.meta.url).resolve('etcd3/package.json'));
    root = new protobuf.Root();
    root.resolvePath = (_, file) => join(etcd3, 'proto', file.slice(file.lastIndexOf('/') + 1));
    root.loadSync('rpc.proto', { keepCase: true });
  });
  const typeOf = (name: string): protobuf.Type => root.lookupType(`etcdserverpb.${name}`);

  for (const [method, [request, response]] of Object.entries(TYPES)) {
    const { encode, decode } = methods[method as keyof typeof methods] as {
      readonly encode: Encode<object>;
      readonly decode: Decode<object>;
    };

    it(`are written as protobufjs writes a ${request}`, () => {
      const type = typeOf(request);
      fc.assert(
        fc.property(messageOf(type), (message) => {
          const frame = framed(encode, message);
          expect([frame[0], frame.readUInt32BE(1)]).to.deep.equal([0, frame.length - PREFIX]);
          const ours = frame.subarray(PREFIX);
          const theirs = sent(type, message);
          // In lists of enumerations, protobufjs packs all values into one field, and this package writes one field for each value. Both encodings
          // are valid, so only the decoded messages are compared.
          if (request === 'WatchRequest')
            expect(type.toObject(type.decode(ours), AS_ETCD3)).to.deep.equal(
              type.toObject(type.decode(theirs), AS_ETCD3),
            );
          else expect(ours.toString('hex')).to.equal(theirs.toString('hex'));
        }),
      );
    });

    it(`are read as protobufjs reads a ${response}`, () => {
      const type = typeOf(response);
      fc.assert(
        fc.property(messageOf(type), (message) => {
          const piece = sent(type, message);
          isPartOf(decoded(decode, piece), type.toObject(type.decode(piece), AS_ETCD3));
        }),
      );
    });

    it(`cause no error but a RangeError when the bytes are no ${response}`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 40 }), (array) => {
          try {
            decoded(decode, Buffer.from(array));
          } catch (error) {
            expect(error).to.be.instanceOf(RangeError);
          }
        }),
      );
    });
  }

  it('are refused when bytes are missing at the end', () => {
    const whole = sent(typeOf('RangeResponse'), {
      kvs: [{ key: Buffer.from('key'), lease: '77' }],
      count: '1',
    });
    for (let length = 1; length < whole.length; length += 1) {
      const part = whole.subarray(0, length);
      // Without its last field of two bytes the message is valid too, because a message may end where a field ends.
      if (length === whole.length - 2) expect(decoded(methods.range.decode, part).count).to.equal('0');
      else expect(() => decoded(methods.range.decode, part)).to.throw(RangeError);
    }
  });

  it('are refused when they are nested more than 100 deep, before the stack overflows', () => {
    const varint = (value: number): Buffer =>
      Buffer.from([(value & 0x7f) | 0x80, ((value >>> 7) & 0x7f) | 0x80, value >>> 14]);
    const nested = (levels: number): Buffer => {
      const pieces: Buffer[] = [];
      let length = 0;
      // In the response to a transaction, field 3 is the list of responses to its operations. In each of these, field 4 is the response to a nested
      // transaction.
      for (let level = 0; level < levels; level += 1) {
        const prefix = Buffer.concat([Buffer.from([level % 2 === 0 ? 0x22 : 0x1a]), varint(length)]);
        pieces.unshift(prefix);
        length += prefix.length;
      }
      return Buffer.concat(pieces);
    };
    expect(decoded(methods.txn.decode, nested(100)).responses).to.have.length(1);
    expect(() => decoded(methods.txn.decode, nested(102))).to.throw(RangeError, 'nested more than 100 deep');
    expect(() => decoded(methods.txn.decode, nested(40_000))).to.throw(
      RangeError,
      'nested more than 100 deep',
    );
  });
});
