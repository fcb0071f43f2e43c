import { expect } from 'chai';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { clockEvidence, clockFault } from '../src/base/clock-check.ts';
import { Clients } from './clients.ts';

const SCRIPT = fileURLToPath(new URL('./one-open.ts', import.meta.url));
const PRELOAD = new URL('./shifted-clock.mjs', import.meta.url).href;

describe('the monotonic clock on which SQLite leases rely', () => {
  const clients = new Clients();

  it('causes an error that names process.hrtime when it started with the process, not with the machine', async () => {
    const child = fork(SCRIPT, [clients.file], { execArgv: [...process.execArgv, '--import', PRELOAD] });
    const exit = once(child, 'exit');
    const [outcome] = (await once(child, 'message')) as [string];
    expect(outcome).to.match(/^INVALID_ARGUMENT false .*process\.hrtime started near 0/);
    await exit;
  });

  it('is accepted when all processes of the machine share it', () => {
    expect(clockFault(clockEvidence())).to.equal(undefined);
  });

  const cases: readonly (readonly [about: string, clock: number, machine: number, isFault: boolean])[] = [
    ['started with the process', 0.003, 25_553, true],
    ['was replaced while the process was running', -0.2, 25_553, true],
    ['is the clock of the machine', 25_553, 25_553, false],
    ['stopped while the machine was suspended for days', 60, 500_000, false],
    ['is the clock of a machine that has just booted', 0.3, 0.3, false],
  ];
  for (const [about, clockAtStart, machineAtStart, isFault] of cases)
    it(`is ${isFault ? 'refused' : 'accepted'} if it behaves in this way: it ${about}`, () => {
      const fault = clockFault({ runtime: undefined, clockAtStart, machineAtStart });
      expect(fault !== undefined).to.equal(isFault);
    });

  for (const runtime of ['Bun', 'Deno'] as const)
    it(`is refused on ${runtime}`, () => {
      expect(clockFault({ runtime, clockAtStart: 100, machineAtStart: 100 })).to.contain(runtime);
    });
});
