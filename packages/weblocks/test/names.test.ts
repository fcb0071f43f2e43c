import { expect } from 'chai';
import fc from 'fast-check';
import { Names, encode } from '../src/names.ts';

/** Generates any sequence of UTF-16 code units, whether it is valid text or not. */
const unitNames = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 40 })
  .map((units) => String.fromCharCode(...units));

describe('the names of queues that web locks use', () => {
  it('are converted from the name of a lock and back', () => {
    const names = new Names('shop');
    fc.assert(
      fc.property(unitNames, (name) => {
        const { line, hold } = names.queuesOf(name);
        expect([names.nameOf(line), names.nameOf(hold)]).to.deep.equal([name, name]);
      }),
    );
  });

  it('are different for different locks', () => {
    const names = new Names('shop');
    fc.assert(
      fc.property(unitNames, unitNames, (a, b) => {
        fc.pre(a !== b);
        expect(names.queuesOf(a).hold).not.to.equal(names.queuesOf(b).hold);
      }),
    );
  });

  it('are printable ASCII without a slash', () => {
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

  it('do not include those of other programs, or of scopes with a common prefix', () => {
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

  it('are refused if they are too long for a store, with an error that states the excess bytes', () => {
    const names = new Names('s');
    expect(() => names.queuesOf('x'.repeat(505))).not.to.throw();
    expect(() => names.queuesOf('x'.repeat(506))).to.throw(
      /name is shorter by at least 1 bytes, .* got "x+\.\.\."/,
    );
  });
});
