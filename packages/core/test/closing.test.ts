import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { closeOnSignals } from '../src/index.ts';
import { follow, onStage, rejection, thrownBy } from './stage.ts';

function stopped(stop: AbortSignal): Promise<void> {
  return new Promise((resolve) => stop.addEventListener('abort', () => resolve()));
}

describe('closing a client with drainMs', () => {
  it('aborts the stop signals of all running work, and waits until the work has ended and released', () =>
    onStage(async (stage) => {
      const client = stage.client();
      let end: (() => void) | undefined;
      let reason: unknown;
      const one = client.run('x', async (own, stop) => {
        await stopped(stop);
        reason = stop.reason;
        await new Promise<void>((done) => (end = done));
        own.throwIfLost();
        return 'done';
      });
      const several = client.multi(['y', 'z']).run((_own, stop) => stopped(stop).then(() => 'both'));
      await stage.settle();
      const closed = client.close({ drainMs: 60_000 });
      await stage.clock.advance(30_000);
      expect(reason).to.include({ code: 'CLOSED' });
      expect(await several).to.equal('both');
      expect(stage.owners('x')).to.have.length(1);
      end?.();
      expect(await stage.passing(one)).to.equal('done');
      await stage.passing(closed);
    }));

  it('rejects waiters and new claims at once', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const works = client.run('x', (_own, stop) => stopped(stop).then(() => stage.clock.advance(0)));
      const waits = rejection(client.acquire('x'));
      const line = follow(client.claim('x'));
      await stage.settle();
      const closed = client.close({ drainMs: 1_000 });
      expect(line.last).to.have.nested.property('error.code', 'CLOSED');
      expect(await waits).to.include({ code: 'CLOSED' });
      expect(await rejection(client.acquire('y'))).to.include({ code: 'CLOSED' });
      expect(await rejection(client.run('y', () => 1))).to.include({ code: 'CLOSED' });
      await stage.passing(Promise.all([works, closed]));
    }));

  it('revokes the remaining holds after drainMs, even holds of acquire, which gets no stop signal', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const handle = await client.acquire('h');
      let end: (() => void) | undefined;
      const stubborn = rejection(client.run('x', () => new Promise<void>((done) => (end = done))));
      await stage.settle();
      const closed = client.close({ drainMs: 1_000 });
      await stage.clock.advance(900);
      expect(handle.held).to.equal(true);
      await stage.passing(closed);
      expect(handle.signal.reason).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
      end?.();
      expect(await stubborn).to.include({ code: 'OWNERSHIP_LOST', reason: 'client-closed' });
    }));

  it('makes run reject with CLOSED when its work threw because of the close', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const failure = new Error('half done');
      const failing = rejection(
        client.run('x', (_own, stop) => stopped(stop).then(() => Promise.reject(failure))),
      );
      await stage.settle();
      await stage.passing(client.close({ drainMs: 1_000 }));
      expect(await failing).to.include({ code: 'CLOSED', cause: failure });
    }));

  it('resolves at once when no work runs, and returns the same promise when it is called again', () =>
    onStage(async (stage) => {
      const client = stage.client();
      const closed = client.close({ drainMs: 60_000 });
      await stage.settle();
      expect(stage.clock.timerCount).to.equal(0);
      await Promise.all([closed, client.close()]);
      expect(await rejection(client.close({ drain: 5 } as object)))
        .to.have.property('message')
        .that.includes('drainMs?');
      expect(await rejection(client.close({ drainMs: -1 }))).to.include({ code: 'INVALID_ARGUMENT' });
      expect(thrownBy(() => closeOnSignals(client, { signals: ['TERM'] }))).to.include({
        code: 'INVALID_ARGUMENT',
      });
    }));
});

describe('a process that uses closeOnSignals', () => {
  /**
   * Starts the program `closing-process.ts`, and sends it a signal when its work runs. Returns its exit, the lines that it prints, and its warnings.
   */
  async function endOf(
    how: string,
    signal: NodeJS.Signals,
    send: (child: ChildProcess) => void = (child) => child.kill(signal),
  ): Promise<[end: unknown, output: string[], warnings: string]> {
    const script = fileURLToPath(new URL('closing-process.ts', import.meta.url));
    const child = spawn(process.execPath, [...process.execArgv, script, how], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let [out, warnings] = ['', ''];
    child.stderr.on('data', (chunk) => (warnings += String(chunk)));
    child.stdout.on('data', (chunk) => {
      out += String(chunk);
      if (out === 'working\n') send(child);
    });
    const [code, by] = (await once(child, 'close')) as [number | null, string | null];
    return [code ?? by, out.trim().split('\n'), warnings];
  }

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`lets running work end, and then dies by the signal: ${signal}`, async () => {
      const [end, [, ...reported]] = await endOf('willing', signal);
      expect(end).to.equal(signal);
      expect(reported).to.deep.equal(['told', 'QueueLockError: [CLOSED] "x": the client is closing', 'done']);
    });
  }

  it('does not wait forever for work that ignores its stop signal', async () => {
    const [end, reported] = await endOf('stubborn', 'SIGTERM');
    expect(end).to.equal('SIGTERM');
    expect(reported).to.include('told').and.not.include('done');
  });

  it('does not end if the application has another listener for the signal', async () => {
    const [end, reported] = await endOf('listener', 'SIGTERM');
    expect(end).to.equal(7);
    expect(reported).to.include('done');
  });

  it('runs beforeExit after its clients are closed, and then dies by the signal', async () => {
    const [end, output] = await endOf('hooked', 'SIGTERM');
    expect(end).to.equal('SIGTERM');
    expect(output.slice(-2)).to.deep.equal(['done', 'closed the server after SIGTERM']);
  });

  it('reports an error of beforeExit as a warning, and dies by the signal', async () => {
    const [end, , warnings] = await endOf('failing', 'SIGTERM');
    expect(end).to.equal('SIGTERM');
    expect(warnings).to.include('the server is not closed');
  });

  it('does not wait for beforeExit longer than beforeExitMs', async () => {
    const [end, output] = await endOf('hanging', 'SIGTERM');
    expect([end, output.at(-1)]).to.deep.equal(['SIGTERM', 'done']);
  });

  it('lets running work end when the same signal arrives twice within 500 ms', async () => {
    const [end, output] = await endOf('willing', 'SIGTERM', (child) => {
      child.kill('SIGTERM');
      child.kill('SIGTERM');
      child.stdout?.once('data', () => child.kill('SIGTERM'));
    });
    expect([end, output.at(-1)]).to.deep.equal(['SIGTERM', 'done']);
  });

  for (const framework of ['framework', 'slow-framework']) {
    it(`lets running work end when the framework (${framework}) raises the signal again`, async () => {
      const [end, output] = await endOf(framework, 'SIGTERM');
      expect(end).to.equal('SIGTERM');
      expect(output.slice(-2)).to.deep.equal(['raised again', 'done']);
    });
  }

  it('dies at once when the same signal arrives again after more than 500 ms', async () => {
    const [end, output] = await endOf('endless', 'SIGTERM', (child) => {
      const again = setInterval(() => child.kill('SIGTERM'), 100);
      child.once('exit', () => clearInterval(again));
    });
    expect(end).to.equal('SIGTERM');
    expect(output).to.include('told').and.not.include('done');
  });

  it('dies at once when another signal arrives', async () => {
    const [end, output] = await endOf('endless', 'SIGTERM', (child) => {
      child.stdout?.once('data', () => child.kill('SIGINT'));
      child.kill('SIGTERM');
    });
    expect([end, output.includes('done')]).to.deep.equal(['SIGINT', false]);
  });
});
