import { expect } from 'chai';
import { hold, snapshot, type Facts } from '../frame.ts';

const ODD = [
  '',
  ' ',
  'abc\0def',
  '\ud800',
  '\udc00',
  '\udc00\ud800',
  '\uffff',
  '\ufffd',
  'a/b',
  'a',
  'b',
  '=',
  '=0020',
  '.',
  '..',
  'é',
  '🔒',
];

export const nameFacts: Facts = {
  about: 'names',
  facts: [
    {
      title: 'every sequence of UTF-16 units is a separate name',
      async check({ peer }) {
        const { locks } = peer();
        const holdings = [];
        for (const name of ODD) {
          holdings.push(await hold(locks, name, { ifAvailable: true }));
          expect(holdings.at(-1)?.lock.name).to.equal(name);
        }
        const { held } = await peer().locks.query();
        expect(held.map(({ name }) => name)).to.have.members(ODD);
        await Promise.all(holdings.map((holding) => holding.end()));
      },
    },
    {
      title: 'the same name in two scopes means two locks',
      async check({ peer, scope }) {
        const [here, there] = [peer().locks, peer({ scope: `${scope}/hold` }).locks];
        const one = await hold(here, 'jobs');
        const two = await hold(there, 'jobs', { mode: 'shared' });
        expect(await snapshot(here)).to.deep.equal({ held: ['exclusive jobs'], pending: [] });
        expect(await snapshot(there)).to.deep.equal({ held: ['shared jobs'], pending: [] });
        await one.end();
        await two.end();
      },
    },
  ],
};
