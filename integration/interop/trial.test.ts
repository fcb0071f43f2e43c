import { SafetyViolation } from '@queuelock/conformance';
import { expect } from 'chai';
import { etcdctl, goMutex, type Kind } from './kinds.ts';
import type { Participant } from './participant.ts';
import type { InteropEvent } from './protocol.ts';
import { Trial, abandonTrials, expectRight } from './trial.ts';

type Said = readonly [t: number, ev: InteropEvent['ev'], token?: number];

function reported(id: string, kind: Kind, ...output: readonly Said[]): Participant {
  const events = output.map(([t, ev, token]): InteropEvent => {
    const place = token === undefined ? {} : { order: String(token), token: String(token) };
    return { t: String(t), id, ev, n: ev === 'killed' ? 0 : 1, ...place };
  });
  return { id, kind, events } as unknown as Participant;
}

const holds = (token: number, at: number): Said[] => [
  [1, 'requesting'],
  [at, 'acquired', token],
];

/**
 * Participants of a history that was cut short. Each was killed while it waited or held, or had already
 * ended.
 */
const cutShort = [
  reported('a', goMutex, ...holds(5, 10), [20, 'releasing'], [21, 'released'], [100, 'killed']),
  reported('b', goMutex, ...holds(6, 22)),
  reported('c', goMutex, ...holds(7, 30), [100, 'killed']),
  reported('d', goMutex, [1, 'requesting'], [100, 'killed']),
];

describe('a trial of clients in several languages', () => {
  const failure = (): Promise<unknown> =>
    abandonTrials().then(
      () => 'none',
      (error: unknown) => error,
    );

  it('is checked once at the end of a test that did not end the trial', async () => {
    new Trial({ participants: [...cutShort, reported('e', goMutex, ...holds(8, 40), [100, 'killed'])] });
    const error = await failure();
    expect(error).to.be.instanceOf(SafetyViolation);
    expect(String(error)).to.include('e (round 1) was granted while c (round 1) held');
    expect(await failure()).to.equal('none');
  });

  it('passes when it was cut short before its waits and holds ended', async () => {
    new Trial({ participants: cutShort });
    expect(await failure()).to.equal('none');
  });

  it('accepts that the last release was not reported when the test did not end the trial', async () => {
    const releases = reported('e', etcdctl, ...holds(8, 40), [100, 'killed']);
    new Trial({ participants: [releases, reported('f', goMutex, ...holds(9, 50), [100, 'killed'])] });
    expect(await failure()).to.equal('none');
  });

  it('is not checked again at the end of the test when it has a verdict', async () => {
    const overlap = [reported('a', goMutex, ...holds(5, 10)), reported('b', goMutex, ...holds(6, 20))];
    const verdict = new Trial({ participants: overlap }).verdict();
    expect(() => expectRight(verdict)).to.throw(SafetyViolation, 'b (round 1) was granted while a');
    expect(await failure()).to.equal('none');
    const open = new Trial({ participants: overlap.slice(0, 1) }).verdict();
    expect(() => expectRight(open))
      .to.throw('a (round 1) never released')
      .that.is.not.instanceOf(SafetyViolation);
  });

  it('accepts a violation of exclusion when the trial is a control', async () => {
    const overlap = [
      reported('a', goMutex, ...holds(5, 10), [100, 'killed']),
      reported('b', goMutex, ...holds(6, 20)),
    ];
    new Trial({ participants: overlap, control: true });
    expect(await failure()).to.equal('none');
  });
});
