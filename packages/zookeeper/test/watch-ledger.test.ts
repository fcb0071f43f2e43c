import { expect } from 'chai';
import { WatchLedger } from '../src/watch-ledger.ts';

const path = (number: number): string => `/q/${String(number).padStart(97, '0')}`;

function fill(ledger: WatchLedger): number {
  let set = 0;
  for (; ledger.hasRoom; set += 1) ledger.set(path(set), 'data');
  return set;
}

describe('the watches of a connection', () => {
  it('fit into the packet that takes them over to a new connection', () => {
    const set = fill(new WatchLedger());
    expect(set * (100 + 4)).to.be.lessThan(1_048_575);
    expect(set).to.be.greaterThan(5_000);
  });

  it('make room when they fire', () => {
    const ledger = new WatchLedger();
    fill(ledger);
    ledger.fired(path(0), 'changed');
    ledger.fired(path(1), 'deleted');
    expect(ledger.hasRoom).to.equal(true);
  });

  it('count once on one node', () => {
    const ledger = new WatchLedger();
    for (let count = 0; count < 100_000; count += 1) ledger.set(path(0), 'data');
    expect(ledger.hasRoom).to.equal(true);
  });

  it('are used up by the changes that concern them', () => {
    const ledger = new WatchLedger();
    ledger.set('/q', 'data');
    ledger.set('/q', 'children');
    const both = ledger.bytes;
    ledger.fired('/q', 'child');
    expect(ledger.bytes).to.equal(both / 2);
    ledger.fired('/q', 'deleted');
    expect(ledger.bytes).to.equal(0);
  });
});
