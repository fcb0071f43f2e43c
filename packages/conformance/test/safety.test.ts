import { expect } from 'chai';
import { SafetyViolation, safely } from '@queuelock/conformance';
import { Referee, type RefereedEntry } from '../src/referee.ts';
import { ADMITTED, checkWith, placements, type Defect } from './defective.ts';

/** Returns an admitted exclusive entry in the queue `jobs`. */
function writer(order: bigint, more: Partial<RefereedEntry> = {}): RefereedEntry {
  const usual = { queue: 'jobs', shared: false, limit: 1, permits: 1, admitted: true, leaving: false };
  return { ...usual, order, promised: true, ...more };
}

/**
 * Reports the admission of the second of two entries to a referee. Returns the number of violations that it
 * finds, and whether one of them concerns mutual exclusion, order or tokens.
 */
function verdict(
  first: RefereedEntry,
  second: RefereedEntry,
): { readonly faults: number; readonly isUnsafe: boolean } {
  const referee = new Referee();
  for (const one of [first, second]) referee.joins(one);
  referee.admits(second);
  return { faults: referee.faults.length, isUnsafe: referee.isUnsafe };
}

function failureOf(title: string, defect: Defect): Promise<unknown> {
  return checkWith(defect, title, { timeoutMs: 150, ttlMs: 300 }).catch((error: unknown) => error);
}

describe('SafetyViolation', () => {
  it('has its own name, the message of the assertion, and the assertion as its cause', () => {
    const assertion = new Error('expected 1 to equal 2');
    const broken = (): never => {
      throw assertion;
    };
    expect(() => safely(broken))
      .to.throw(SafetyViolation, 'expected 1 to equal 2')
      .that.includes({ name: 'SafetyViolation', cause: assertion });
    expect(safely(() => 'kept')).to.equal('kept');
  });

  it('is thrown when two entries are admitted at the same time', async () => {
    const everybody: Defect = () => placements((placement) => ({ ...placement, turn: ADMITTED }));
    const failure = await failureOf(
      'three connections are granted in the order in which they joined',
      everybody,
    );
    expect(failure).to.be.an.instanceof(SafetyViolation);
  });

  it('is thrown when tokens do not grow', async () => {
    const old: Defect = () => placements((placement) => ({ ...placement, token: 1n }));
    const failure = await failureOf(
      'the tokens of successive holders grow, also after the queue was empty',
      old,
    );
    expect(failure).to.be.an.instanceof(SafetyViolation);
  });

  it('is not thrown when a backend removes the entries of a closed session too late', async () => {
    const silent: Defect = () => ({ session: () => ({ close: async () => undefined }) });
    const failure = await failureOf(
      'closing a session removes its entries before the TTL has passed',
      silent,
    );
    expect(failure).to.be.an.instanceof(Error).and.not.an.instanceof(SafetyViolation);
  });
});

describe('the check of admissions in the conformance suite', () => {
  it('reports a safety violation when an entry overtakes an entry whose session the store still guarantees', () => {
    expect(verdict(writer(1n), writer(2n))).to.deep.equal({ faults: 1, isUnsafe: true });
  });

  it('reports a fault but no safety violation when an entry overtakes an entry whose session may have ended', () => {
    expect(verdict(writer(1n, { promised: false }), writer(2n))).to.deep.equal({
      faults: 1,
      isUnsafe: false,
    });
  });

  it('reports nothing when an entry overtakes an entry whose removal has begun', () => {
    expect(verdict(writer(1n, { leaving: true }), writer(2n))).to.deep.equal({ faults: 0, isUnsafe: false });
  });
});
