import { expect } from 'chai';
import { role } from '../src/views/diagnose.ts';

describe('diagnosis of the replicas of a Redis', () => {
  const texts = (info: Readonly<Record<string, string>>): readonly string[] =>
    role(new Map(Object.entries({ role: 'master', ...info })), 'here').map(
      ({ level, text }) => `${level}: ${text}`,
    );

  it('reports nothing for a primary without replicas, and an error for a replica', () => {
    expect(texts({ connected_slaves: '0' })).to.deep.equal([]);
    expect(texts({ role: 'slave' })).to.deep.equal(['error: it is a replica: use the primary']);
  });

  it('warns when replicas exist and min-replicas-to-write is not set', () => {
    expect(texts({ connected_slaves: '2' }).join()).to.match(
      /^warning: it has 2 replicas, .*renews the earlier hold without end.*set min-replicas-to-write 1 and min-replicas-max-lag 10/,
    );
    expect(texts({ connected_slaves: '2', min_slaves_good_slaves: '2' }).join())
      .to.match(/^warning: it has 2 replicas, .*the earlier hold ends at its deadline/)
      .and.not.contain('without end');
  });
});
