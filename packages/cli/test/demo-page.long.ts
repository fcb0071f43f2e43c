import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { DemoPage } from './demo-page.ts';

/** Returns whether the process exists; a zombie does not count. */
function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function untilAllEnded(pids: readonly number[]): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (pids.some(lives)) {
    expect(performance.now(), 'all have ended').to.be.below(deadline);
    await pause(20);
  }
}

describe('the page of queuelock demo', function () {
  this.timeout(90_000);
  let directory: string;
  let demo: DemoPage;
  let killed: DemoPage;
  // Counts only files of queuelock in the temporary directory. The loader that runs the TypeScript sources
  // may leave other files there.
  const files = (): string[] => readdirSync(directory).filter((name) => name.startsWith('queuelock-'));

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), 'queuelock-page-'));
    const others = mkdtempSync(join(directory, 'killed-'));
    [demo, killed] = await Promise.all([
      DemoPage.open([], { TMPDIR: directory }),
      DemoPage.open([], { TMPDIR: others }),
    ]);
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  const isLast = ({ position }: { readonly position?: number }): boolean => position === 3;

  it('rejects an action that is not possible now, and shows the reason', async () => {
    const { contenders } = await demo.seen(({ contenders }) => contenders.some(isLast));
    const { id } = contenders.find(isLast)!;
    const refusals: string[] = [];
    for (const act of [
      { act: 'thaw', id },
      { act: 'mend', id },
      { act: 'release', id },
      { act: 'kill', id: 'c99' },
    ] as const)
      await demo.client.contend(act).catch((error: unknown) => refusals.push((error as Error).message));
    expect(refusals).to.deep.equal([
      `[INVALID_ARGUMENT] ${id} is not frozen`,
      `[INVALID_ARGUMENT] ${id} is not cut off`,
      `[INVALID_ARGUMENT] ${id} does not hold`,
      '[INVALID_ARGUMENT] there is no c99 any more',
    ]);
  });

  it('leaves no process, file or port after Ctrl-C, even with frozen and cut-off contenders', async () => {
    await demo.client.contend({ act: 'add' });
    await demo.until(({ id, ev }) => id === 'c5' && ev === 'enqueued');
    await demo.client.contend({ act: 'freeze', id: 'c4' });
    await demo.client.contend({ act: 'cut', id: 'c5' });
    const { contenders } = await demo.seen(({ contenders }) => contenders.some(({ isCut }) => isCut));
    expect(contenders.map(({ isFrozen, isCut }) => isFrozen || isCut)).to.deep.equal([
      ...[false, false, false],
      ...[true, true],
    ]);
    expect(files().filter((name) => name.startsWith('queuelock-demo-'))).to.have.lengthOf(1);
    expect(await demo.interrupt()).to.equal(0);
    expect(contenders.map(({ pid }) => pid).filter(lives)).to.deep.equal([]);
    expect(files()).to.deep.equal([]);
    expect(await fetch(demo.url).catch(() => 'nobody listens')).to.equal('nobody listens');
  });

  it('ends all contenders, even a frozen one, when the demo is killed', async () => {
    await killed.until(({ id, ev }) => id === 'c4' && ev === 'enqueued');
    await killed.client.contend({ act: 'freeze', id: 'c4' });
    const { contenders } = await killed.seen(({ contenders }) => contenders.some(({ isFrozen }) => isFrozen));
    killed.client.close();
    killed.cli.child.kill('SIGKILL');
    await killed.cli.ending;
    await untilAllEnded(contenders.map(({ pid }) => pid));
  });
});
