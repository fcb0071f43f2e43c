import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { groupsMarked } from '../src/run/marked.ts';
import { allRemoved, Kennel, WATCHDOG } from './kennel.ts';

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

  it('kills the command and its descendants when queuelock run is killed', async () => {
    const dog = await kennel.watchdog(60_000);
    const command = kennel.stubborn();
    await once(command.stdout!, 'data');
    expect(groupsMarked(kennel.mark)).to.deep.equal([command.pid]);
    const ended = once(dog, 'exit');
    dog.stdin!.end();
    expect(await allRemoved(command)).to.equal('SIGKILL');
    await ended;
  });

  it('kills a command that starts after the end of the hold when queuelock run is frozen', async () => {
    await kennel.watchdog(0);
    expect(await allRemoved(kennel.stubborn())).to.equal('SIGKILL');
  });
});

describe('a watchdog whose queuelock process ended before the watchdog was ready', () => {
  it('exits without output', async () => {
    const child = spawn(process.execPath, [...process.execArgv, WATCHDOG], { stdio: 'pipe' });
    child.stdout.destroy();
    child.stdin.end();
    const output = text(child.stderr);
    const [code] = (await once(child, 'exit')) as [unknown];
    expect([code, await output]).to.deep.equal([0, '']);
  });
});
