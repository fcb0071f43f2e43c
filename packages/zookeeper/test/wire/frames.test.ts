import { expect } from 'chai';
import fc from 'fast-check';
import { FrameReader } from '../../src/wire/frames.ts';
import { WireError } from '../../src/wire/wire-error.ts';

const MAX_BYTES = 20_000;

function frameOf(content: Uint8Array): Buffer {
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length);
  return Buffer.concat([length, content]);
}

/** Returns all frames that are complete by now. */
function taken(reader: FrameReader): Buffer[] {
  const frames: Buffer[] = [];
  for (let frame = reader.next(); frame; frame = reader.next()) frames.push(frame);
  return frames;
}

describe('frames of ZooKeeper', () => {
  it('are found in chunks of any size', () => {
    const contents = fc.array(fc.uint8Array({ maxLength: 9_000 }), { maxLength: 12 });
    fc.assert(
      fc.property(
        contents,
        fc.array(fc.integer({ min: 1, max: 6_000 }), { minLength: 1 }),
        (frames, sizes) => {
          const stream = Buffer.concat(frames.map(frameOf));
          const reader = new FrameReader(MAX_BYTES);
          const found: Buffer[] = [];
          for (let at = 0, turn = 0; at < stream.length; turn += 1) {
            const size = sizes[turn % sizes.length]!;
            reader.push(stream.subarray(at, at + size));
            at += size;
            found.push(...taken(reader));
          }
          expect(found.map((frame) => frame.toString('hex'))).to.deep.equal(
            frames.map((frame) => Buffer.from(frame).toString('hex')),
          );
          expect(reader.held).to.equal(0);
        },
      ),
    );
  });

  it('are refused as soon as a length is negative or above the maximum', () => {
    for (const length of [MAX_BYTES + 1, 2 ** 31 - 1, -1, -(2 ** 31)]) {
      const reader = new FrameReader(MAX_BYTES);
      const bytes = Buffer.alloc(4);
      bytes.writeInt32BE(length);
      reader.push(bytes);
      expect(() => reader.next()).to.throw(WireError, `a frame of ${length} bytes`);
    }
  });

  it('take no more memory than the received bytes', () => {
    const reader = new FrameReader(2 ** 30);
    const bytes = Buffer.alloc(4);
    bytes.writeInt32BE(2 ** 30);
    reader.push(bytes);
    for (let count = 0; count < 10_000; count += 1) reader.push(Buffer.alloc(1));
    expect(reader.next()).to.equal(undefined);
    expect(reader.held).to.equal(10_004);
  });
});
