import { once } from 'node:events';
import { expect } from 'chai';
import { allRemoved, Kennel } from './kennel.ts';

describe('a watchdog that does not know the process group of its command', () => {
  let kennel: Kennel;

  before(function () {
    if (process.platform === 'linux') return;
    this['skipReason'] = 'only Linux shows the environment of a process';
    this.skip();
  });
  beforeEach(() => {
    kennel = new Kennel();
  });
  afterEach(() => {
    kennel.close();
  });

  it('kills a command that starts only after the death of the guard', async () => {
    const dog = await kennel.watchdog(60_000);
    const ended = once(dog, 'exit');
    dog.stdin!.end();
    // A shell that was just started does not ignore signals yet, so SIGTERM may already end it.
    expect(await allRemoved(kennel.stubborn())).to.be.oneOf(['SIGTERM', 'SIGKILL']);
    await ended;
  });

  it('exits when there is no command', async () => {
    const dog = await kennel.watchdog(60_000);
    dog.stdin!.end();
    expect(await once(dog, 'exit')).to.deep.equal([0, null]);
  });
});
