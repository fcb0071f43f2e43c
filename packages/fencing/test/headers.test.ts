import { expect } from 'chai';
import fc from 'fast-check';
import { fencingHeaders, readFencingHeaders } from '../src/index.ts';

const names = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });

describe('fencing headers', () => {
  it('carry name, token and epoch through a real Headers object', () => {
    fc.assert(
      fc.property(
        names,
        fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }),
        fc.maxSafeNat(),
        (name, token, epoch) => {
          const headers = new Headers(fencingHeaders({ name, token }, { epoch }));
          expect(readFencingHeaders((header) => headers.get(header))).to.deep.equal({ name, epoch, token });
        },
      ),
    );
  });

  it('are fencing-name with the encoded name, and fencing-token with the decimal token', () => {
    expect(fencingHeaders({ name: 'invoices/2026', token: 1042n })).to.deep.equal({
      'fencing-name': 'invoices%2F2026',
      'fencing-token': '1042',
    });
    expect(fencingHeaders({ name: 'a', token: 1n }, { epoch: 3 })['fencing-token']).to.equal('1;epoch=3');
  });

  it('are reported as missing when a request has none, and as malformed when they are invalid', () => {
    const read = (name?: string, token?: string): string => {
      const reply = readFencingHeaders((header) => (header === 'fencing-name' ? name : token));
      return 'outcome' in reply ? `${reply.outcome} ${String(reply.status)}` : 'fine';
    };
    expect(read('a', '1')).to.equal('fine');
    expect(read()).to.equal('missing 428');
    const tokens = [
      '',
      '0',
      '-1',
      '01',
      '1.5',
      '0x1',
      ' 1',
      '1, 2',
      '1;epoch=',
      '1;epoch=01',
      '1;epoch=-1',
      '18446744073709551616',
      '1;epoch=9007199254740992',
      '9'.repeat(10_000),
    ];
    for (const token of [...tokens, undefined]) expect(read('a', token), token).to.equal('malformed 400');
    for (const name of ['', '%', '%ff', 'a/b', '%61', 'a'.repeat(513), undefined]) {
      expect(read(name, '1'), name).to.equal('malformed 400');
    }
  });

  it('never make readFencingHeaders throw, whatever they contain', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (name, token) => {
        readFencingHeaders((header) => (header === 'fencing-name' ? name : token));
      }),
    );
  });

  it('are refused for an invalid hold', () => {
    expect(() => fencingHeaders({ name: '', token: 1n })).to.throw(
      /name is well-formed text of 1 to 512 bytes/,
    );
    expect(() => fencingHeaders({ name: 'a', token: 2n ** 64n })).to.throw(/token is a bigint from 1/);
    expect(() => fencingHeaders({ name: 'a', token: 1n }, { epoch: 1.5 })).to.throw(
      /epoch is a whole number/,
    );
  });
});
