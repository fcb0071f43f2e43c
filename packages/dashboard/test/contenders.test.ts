import type { ContenderSnapshot } from '@queuelock/bridge/wire';
import { expect } from 'chai';
import { buttonsOf, contenderText, provenOf } from '../src/page/model/contenders.ts';

const one = (more: Partial<ContenderSnapshot>): ContenderSnapshot => ({
  id: 'c1',
  pid: 7,
  status: 'waits',
  isFrozen: false,
  isCut: false,
  ...more,
});

describe('contenders on the dashboard', () => {
  it('are described by a text for each of their states', () => {
    const words = [
      one({ status: 'starts' }),
      one({ position: 1 }),
      one({ position: 3 }),
      one({ status: 'holds', token: '41', position: 0 }),
      one({ status: 'expired', isFrozen: true }),
      one({ status: 'gone', end: 'killed' }),
    ].map(contenderText);
    expect(words).to.deep.equal([
      'starts',
      'is next',
      'waits, 3rd in the queue',
      'holds with token 41',
      'lost its entry while frozen; it will notice when it resumes',
      'has ended: killed',
    ]);
  });

  it('have buttons only for the actions that are possible', () => {
    const titles = (more: Partial<ContenderSnapshot>, canCut = true): string =>
      buttonsOf(one(more), { canCut })
        .map(({ title, isOff }) => (isOff ? `(${title})` : title))
        .join();
    expect(titles({})).to.equal('(Release),Freeze,Cut off,Kill');
    expect(titles({ status: 'holds' }, false)).to.equal('Release,Freeze,Kill');
    expect(titles({ status: 'holds', isFrozen: true })).to.equal('(Release),Thaw,(Cut off),Kill');
    expect(titles({ status: 'holds', isCut: true })).to.equal('(Release),Freeze,Connect,Kill');
    expect(titles({ status: 'gone' })).to.equal('');
  });

  it('show the proven time of a hold as it shrinks', () => {
    const holder = one({ status: 'holds', provenUntil: 3_000 });
    const ttlMs = 3_000;
    expect(provenOf(holder, { ttlMs }, 0)).to.deep.equal({ part: 1, text: '3.0s proven' });
    expect(provenOf(holder, { ttlMs }, 2_400)).to.deep.equal({ part: 0.2, text: '600ms proven' });
    expect(provenOf(holder, { ttlMs }, 3_001)).to.deep.equal({
      part: 0,
      text: 'its proven time has ended',
    });
    expect(provenOf(one({}), { ttlMs }, 0)).to.equal(undefined);
  });
});
