import { expect } from 'chai';
import { SafetyViolation, safely } from '@queuelock/conformance';
import { Referee, type Rival } from '../src/referee.ts';
import { ADMITTED, checkWith, placements, type Defect } from './defective.ts';

/** Makes a writer in the only queue. */
function rival(order: bigint, more: Partial<Rival> = {}): Rival {
  const usual = { queue: 'jobs', shared: false, limit: 1, permits: 1, admitted: true, leaving: false };
  return { ...usual, order, promised: true, ...more };
}

/** Returns what a referee reports about the second one's admission. */
function verdict(first: Rival, second: Rival): { readonly faults: number; readonly isUnsafe: boolean } {
  const referee = new Referee();
  for (const one of [first, second]) referee.joins(one);
  referee.admits(second);
  return { faults: referee.faults.length, isUnsafe: referee.isUnsafe };
}

function failureOf(title: string, defect: Defect): Promise<unknown> {
  return checkWith(defect, title, { timeoutMs: 150, ttlMs: 300 }).catch((error: unknown) => error);
}

describe('a promise that is broken', () => {
  it('has a name of its own, says what the assertion says, and has it as its cause', () => {
    const assertion = new Error('expected 1 to equal 2');
    const broken = (): never => {
      throw assertion;
    };
    expect(() => safely(broken))
      .to.throw(SafetyViolation, 'expected 1 to equal 2')
      .that.includes({ name: 'SafetyViolation', cause: assertion });
    expect(safely(() => 'kept')).to.equal('kept');
  });

  it('is that two are admitted at once', async () => {
    const everybody: Defect = () => placements((placement) => ({ ...placement, turn: ADMITTED }));
    const failure = await failureOf('three connections are served in the order they joined', everybody);
    expect(failure).to.be.an.instanceof(SafetyViolation);
  });

  it('is that tokens do not grow', async () => {
    const old: Defect = () => placements((placement) => ({ ...placement, token: 1n }));
    const failure = await failureOf(
      'the tokens of successive holders grow, also after the queue was empty',
      old,
    );
    expect(failure).to.be.an.instanceof(SafetyViolation);
  });

  it('is not that something comes late', async () => {
    const silent: Defect = () => ({ session: () => ({ close: async () => undefined }) });
    const failure = await failureOf('closing a session frees its places at once', silent);
    expect(failure).to.be.an.instanceof(Error).and.not.an.instanceof(SafetyViolation);
  });
});

describe('a referee', () => {
  it('sees that one passes another whose session is promised, and that it is unsafe', () => {
    expect(verdict(rival(1n), rival(2n))).to.deep.equal({ faults: 1, isUnsafe: true });
  });

  it('sees that one passes another whose session may be over, and cannot say that it is unsafe', () => {
    expect(verdict(rival(1n, { promised: false }), rival(2n))).to.deep.equal({ faults: 1, isUnsafe: false });
  });

  it('sees nothing wrong in one behind those who leave', () => {
    expect(verdict(rival(1n, { leaving: true }), rival(2n))).to.deep.equal({ faults: 0, isUnsafe: false });
  });
});
