import { expect } from 'chai';
import fc from 'fast-check';
import { hashOf, routeOf, type Route } from '../src/page/model/route.ts';

describe('addresses of the dashboard', () => {
  it('encode any queue name so that decoding returns exactly that name', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1 }), (name) => {
        expect(routeOf(hashOf({ view: 'queue', name }))).to.deep.equal({ view: 'queue', name });
      }),
    );
    for (const name of ['~', '~d800', '\uD800', 'a\uDC00~007e', 'a/b#c?d%', '😀'])
      expect(routeOf(hashOf({ view: 'queue', name }))).to.deep.equal({ view: 'queue', name });
  });

  it('contain a queue name without special characters in readable form', () => {
    expect(hashOf({ view: 'queue', name: 'invoice-7' })).to.equal('#/queue/invoice-7');
  });

  const others: readonly (readonly [string, Route])[] = [
    ['', { view: 'queues' }],
    ['#', { view: 'queues' }],
    ['#/faults', { view: 'faults' }],
    ['#/nothing', { view: 'queues' }],
    ['#/queue/', { view: 'queues' }],
    ['#/queue/%', { view: 'queues' }],
    ['#/election/', { view: 'elections' }],
    ['#/contenders/q', { view: 'contenders', name: 'q' }],
    ['#/contenders', { view: 'queues' }],
  ];
  for (const [hash, route] of others)
    it(`are parsed correctly, such as "${hash}" as ${JSON.stringify(route)}`, () => {
      expect(routeOf(hash)).to.deep.equal(route);
    });
});
