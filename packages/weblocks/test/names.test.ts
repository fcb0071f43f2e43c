import { expect } from 'chai';
import fc from 'fast-check';
import { Names, encode } from '../src/names.ts';

/** Any sequence of UTF-16 code units, valid text or not. */
const unitNames = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

describe('names of queues', () => {
  it('a name and its queues lead to each other', () => {
    const names = new Names('shop');
    fc.assert(
      fc.property(unitNames, (name) => {
        const { line, hold } = names.queuesOf(name);
        expect([names.nameOf(line), names.nameOf(hold)]).to.deep.equal([name, name]);
      }),
    );
  });

  it('no two names share a queue', () => {
    const names = new Names('shop');
    fc.assert(
      fc.property(unitNames, unitNames, (a, b) => {
        fc.pre(a !== b);
        expect(names.queuesOf(a).hold).not.to.equal(names.queuesOf(b).hold);
      }),
    );
  });

  it('the stored form is printable ASCII without a slash, and plain names stay readable', () => {
    fc.assert(
      fc.property(unitNames, (name) => {
        expect(encode(name)).to.match(/^[\x21-\x2e\x30-\x7e]+$/);
      }),
    );
    expect(['invoices-2026.11', '', 'a/b', 'a b', '\ud800'].map(encode)).to.deep.equal([
      'invoices-2026.11',
      '=',
      'a=002fb',
      'a=0020b',
      '=d800',
    ]);
  });

  it('queues of others, and of scopes that begin alike, are no names of a scope', () => {
    const names = new Names('shop');
    const foreign = [
      'shop',
      'shop/',
      'shop/hold',
      'shop/held/a',
      'shop/hold/a/b',
      'shop/hold/a=',
      'shop/hold/a=00ZZ',
      'shops/hold/a',
      'shop/hold/',
    ];
    expect(foreign.map((queue) => names.nameOf(queue))).to.deep.equal(foreign.map(() => undefined));
  });

  it('a name that a store could not hold is refused with the number of bytes that are too many', () => {
    const names = new Names('s');
    expect(() => names.queuesOf('x'.repeat(505))).not.to.throw();
    expect(() => names.queuesOf('x'.repeat(506))).to.throw(/name takes 1 bytes less, .* got "x+\.\.\."/);
  });
});
