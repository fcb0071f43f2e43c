import { expect } from 'chai';
import { UsageError } from '@queuelock/harness/command-line';
import { chaosOptions, commandOf, type ChaosOptions } from './chaos-options.ts';

function optionsOf(...args: string[]): ChaosOptions {
  const options = chaosOptions(args);
  if (!options) throw new Error('only help was asked for');
  return options;
}

describe('the arguments of pnpm chaos', () => {
  it("default to five minutes each on etcd and ZooKeeper, with a random seed and queuelock's own clients", () => {
    const { minutes, seed, spacing, stores, rule, recipes, keep, out } = optionsOf();
    expect({ minutes, spacing, stores, rule, recipes, keep }).to.deep.equal({
      minutes: 5,
      spacing: 1,
      stores: ['etcd', 'zookeeper'],
      rule: 'product',
      recipes: false,
      keep: false,
    });
    expect(seed).to.satisfy(Number.isInteger);
    expect(out('etcd')).to.equal(`chaos-report/etcd-${seed}`);
  });

  it('select the stores, and the directory into which pnpm chaos writes its reports', () => {
    expect(optionsOf('--backend', 'zookeeper', '--out', 'here').out('zookeeper')).to.equal('here');
    expect(optionsOf('--out', 'here').out('zookeeper')).to.equal('here/zookeeper');
  });

  it('are accepted after an argument "--", which pnpm passes on', () => {
    expect(optionsOf('--', '--minutes', '0.5').minutes).to.equal(0.5);
  });

  it('are the same when parsed from the command that a report shows for repeating its run', () => {
    const requested = ['--minutes', '0.5', '--backend', 'etcd', '--rule', 'plain', '--recipes'];
    const more = ['--transport', 'socket', '--spacing', '2.5'];
    const overSocket = optionsOf(...requested, ...more);
    const [, , ...args] = commandOf({ ...overSocket, seed: 7 }, 'etcd').split(' ');
    const same = { minutes: 0.5, seed: 7, spacing: 2.5, rule: 'plain', transport: 'socket', recipes: true };
    expect(optionsOf(...args)).to.include(same);
  });

  it('print the help for --help', () => {
    expect(chaosOptions(['--help'])).to.equal(undefined);
  });

  const WRONG: readonly (readonly [args: readonly string[], message: string])[] = [
    [['--minutes', 'ten'], '--minutes: "ten" is not a number'],
    [['--minutes', '0.1'], '--minutes: "0.1" is not from 0.25 to 1440'],
    [['--minutes', 'Infinity'], '--minutes: "Infinity" is not from 0.25 to 1440'],
    [['--spacing', '0'], '--spacing: "0" is not from 0.1 to 100'],
    [['--spacing', '101'], '--spacing: "101" is not from 0.1 to 100'],
    [['--seed', '1.5'], '--seed: "1.5" is not a whole number from 0 to 4294967295'],
    [['--seed', ''], '--seed: "" is not a number'],
    [
      ['--backend', 'mongodb'],
      '--backend: "mongodb" is none of etcd, zookeeper, redis, postgres, mariadb, consul, consul-cluster, sqlite, both, all',
    ],
    [['--backend', 'redis', '--recipes'], '--recipes is only for etcd and zookeeper'],
    [
      ['--backend', 'redis', '--rule', 'plain'],
      '--rule: "plain" is none of those for redis: product, overlong',
    ],
    [['--backend', 'etcd', '--transport', 'grpc'], '--transport: "grpc" is none of socket, http2, etcd3'],
    [['--transport', 'socket'], '--transport is only for etcd, not for zookeeper'],
    [['--backend', 'redis', '--transport', 'socket'], '--transport is only for etcd, not for redis'],
    [['--sums', ''], '--sums: "" is not the name of a file'],
    [['--out', ''], '--out: "" is not the name of a directory'],
    [
      ['--rule', 'plain'],
      '--rule: "plain" is none of those for zookeeper: product, connected, newest, overlong',
    ],
    [
      ['--rule', 'connected', '--backend', 'etcd'],
      '--rule: "connected" is none of those for etcd: product, plain, overlong',
    ],
    [['--hurry'], "Unknown option '--hurry'"],
    [['more'], "Unexpected argument 'more'"],
  ];
  for (const [args, message] of WRONG) {
    it(`are rejected when they are wrong: ${args.join(' ')}`, () => {
      expect(() => chaosOptions(args)).to.throw(UsageError, message);
    });
  }
});
