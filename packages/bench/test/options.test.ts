import { UsageError } from '@queuelock/harness/command-line';
import { expect } from 'chai';
import { cellsOf } from '../src/cells.ts';
import { benchOptions } from '../src/options.ts';

describe('the command line of the benchmark', () => {
  it('selects all scenarios by default, on both kinds of disk, with a warm-up round', () => {
    const options = benchOptions([])!;
    expect(options).to.deep.include({ media: ['tmpfs', 'disk'], rounds: 5, warmUp: true, json: undefined });
    expect(options.stores).to.deep.equal(['etcd', 'zookeeper', 'redis']);
  });

  it('selects, with --short, one round on servers that store data in memory', () => {
    expect(benchOptions(['--short'])).to.deep.include({ media: ['tmpfs'], rounds: 1, warmUp: false });
    expect(benchOptions(['--short', '--disk', '--rounds', '2'])).to.deep.include({
      media: ['disk'],
      rounds: 2,
    });
  });

  it('rejects wrong arguments and names the allowed values', () => {
    expect(() => benchOptions(['--only', 'etcd,consul'])).to.throw(UsageError, 'etcd, zookeeper, redis');
    expect(() => benchOptions(['--n', '10,x'])).to.throw(UsageError, '1 to 20000');
    expect(() => benchOptions(['--rounds', '0'])).to.throw(UsageError);
    expect(() => benchOptions(['--fast'])).to.throw(UsageError);
  });

  it('selects fewer scenarios for Redis, whose benchmarked lock has no queue', () => {
    const { extent } = benchOptions([])!;
    const scenarios = new Set(cellsOf('redis', 'tmpfs', extent).map(({ scenario }) => scenario));
    expect([...scenarios]).to.deep.equal(['free', 'many', 'fresh']);
    expect(cellsOf('etcd', 'tmpfs', extent).filter(({ noise }) => noise)).to.have.length(1);
  });
});
