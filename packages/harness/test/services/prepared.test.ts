import { expect } from 'chai';
import {
  assertPrepared,
  howToGet,
  GATE_PROGRAMS,
  isPrepared,
  LONG_PROGRAMS,
  OPTIONAL_PROGRAMS,
  preparedEnv,
} from '@queuelock/harness/services/prepared';

/** Runs `work` with the environment variables `env` in place of QUEUELOCK_PREPARED. Restores that variable afterwards. */
function inRun(env: Readonly<Record<string, string>>, work: () => void): void {
  const before = process.env['QUEUELOCK_PREPARED'];
  delete process.env['QUEUELOCK_PREPARED'];
  Object.assign(process.env, env);
  try {
    work();
  } finally {
    delete process.env['QUEUELOCK_PREPARED'];
    if (before !== undefined) process.env['QUEUELOCK_PREPARED'] = before;
  }
}

describe('prepared programs of a test run', () => {
  it('are the only programs that the run may start, even on a machine with more programs', () => {
    inRun(preparedEnv(['etcd', 'ZooKeeper']), () => {
      expect(isPrepared()).to.equal(true);
      expect(() => assertPrepared('etcd')).not.to.throw();
      expect(() => assertPrepared('Redis')).to.throw(/starts Redis, which this run does not prepare/);
    });
  });

  it('are not required in a run without preparation', () => {
    inRun({}, () => {
      expect(isPrepared()).to.equal(false);
      expect(() => assertPrepared('Chromium')).not.to.throw();
    });
  });

  it('include in the long run all programs of the gate, each with instructions to install it', () => {
    expect(LONG_PROGRAMS).to.include.members([...GATE_PROGRAMS]);
    expect(LONG_PROGRAMS.map(howToGet)).to.not.include('');
  });

  it('include, for the gate, no program that is optional', () => {
    expect(GATE_PROGRAMS.filter((program) => OPTIONAL_PROGRAMS.includes(program))).to.deep.equal([]);
  });
});
