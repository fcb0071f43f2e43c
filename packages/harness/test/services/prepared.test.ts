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

/** Runs `work` as in a run that has prepared these programs, or as without preparation. */
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

describe('the programs that a run of the tests prepares', () => {
  it('refuses to start a program that the run did not list, even when this machine has it', () => {
    inRun(preparedEnv(['etcd', 'ZooKeeper']), () => {
      expect(isPrepared()).to.equal(true);
      expect(() => assertPrepared('etcd')).not.to.throw();
      expect(() => assertPrepared('Redis')).to.throw(/starts Redis, which this run does not prepare/);
    });
  });

  it('allows every program outside a prepared run', () => {
    inRun({}, () => {
      expect(isPrepared()).to.equal(false);
      expect(() => assertPrepared('Chromium')).not.to.throw();
    });
  });

  it('lists for the long run what the gate lists, and says what to install for each program', () => {
    expect(LONG_PROGRAMS).to.include.members([...GATE_PROGRAMS]);
    expect(LONG_PROGRAMS.map(howToGet)).to.not.include('');
  });

  it('requires every program of the gate', () => {
    expect(GATE_PROGRAMS.filter((program) => OPTIONAL_PROGRAMS.includes(program))).to.deep.equal([]);
  });
});
