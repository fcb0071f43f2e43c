import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { groupsMarked } from '../src/run/marked.ts';
import { allGone, Kennel, WATCHDOG } from './kennel.ts';

describe('watchdog without the process group of its command', () => {
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

  it('ends the command and its descendants when the guard is killed', async () => {
    const dog = await kennel.watchdog(60_000);
    const command = kennel.stubborn();
    await once(command.stdout!, 'data');
    expect(groupsMarked(kennel.mark)).to.deep.equal([command.pid]);
    const ended = once(dog, 'exit');
    dog.stdin!.end();
    expect(await allGone(command)).to.equal('SIGKILL');
    await ended;
  });

  it('ends the command of a frozen guard, also one that starts after the hold', async () => {
    await kennel.watchdog(0);
    expect(await allGone(kennel.stubborn())).to.equal('SIGKILL');
  });
});

describe('watchdog whose queuelock ended before it was ready', () => {
  it('ends silently', async () => {
    const child = spawn(process.execPath, [...process.execArgv, WATCHDOG], { stdio: 'pipe' });
    child.stdout.destroy();
    child.stdin.end();
    const said = text(child.stderr);
    const [code] = (await once(child, 'exit')) as [unknown];
    expect([code, await said]).to.deep.equal([0, '']);
  });
});
