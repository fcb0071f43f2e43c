import { createLockClient } from '@queuelock/core';
import { sqlite } from '@queuelock/sqlite';
import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { pickPorts } from '@queuelock/harness/services/ports';
import { Tasks } from './examples.ts';

describe('the programs of EXAMPLES.md in several processes', () => {
  let tasks: Tasks;

  beforeEach(() => {
    tasks = new Tasks();
  });

  afterEach(() => tasks.end());

  const untilInLine = async (name: string, count: number): Promise<void> => {
    await using locks = createLockClient(sqlite({ file: tasks.file }));
    const isSo$ = locks
      .watch(name)
      .pipe(filter(({ status, entries }) => status === 'live' && entries.length === count));
    await firstValueFrom(isSo$, { defaultValue: undefined });
  };

  it('one.ts runs in one process at a time, and releases on SIGTERM', async () => {
    const slow = { '1_000, undefined': '60_000, undefined' };
    const [first, second] = [tasks.start('one.ts', slow), tasks.start('one.ts')];
    await first.until(/mine/);
    const ended = await first.end('SIGTERM');
    expect(ended.signal ?? ended.code).to.not.equal(0);
    await second.until(/mine, token \d+n\ndone\n/);
    expect(await second.end()).to.deep.equal({ code: 0, signal: null });
  });

  it('cron.ts runs its job at each tick in one of three instances', async () => {
    const fast = { '60_000': '500' };
    const instances = [
      tasks.start('cron.ts', fast),
      tasks.start('cron.ts', fast),
      tasks.start('cron.ts', fast),
    ];
    const done = (): string[] =>
      instances.flatMap(({ output }) => [...output.matchAll(/report of (\S+)/g)].map(([, at]) => at!));
    await Promise.all(instances.map((instance) => instance.until(/(report of|done by)(.*\n){3}/)));
    expect(done().length).to.be.above(2);
    expect(new Set(done()).size).to.equal(done().length);
    for (const instance of instances) {
      expect(await instance.end('SIGTERM')).to.deep.equal({ code: null, signal: 'SIGTERM' });
      expect(instance.stderr).to.equal('');
    }
  });

  it('leader.ts has one leader, and another leader after the first one receives SIGTERM', async () => {
    const first = tasks.start('leader.ts');
    await first.until(/leading, token/);
    const second = tasks.start('leader.ts');
    await second.until(new RegExp(`the leader is process ${String(first.pid)}`));
    expect(second.output).to.not.include('leading');
    expect(await first.end('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    expect(first.output).to.include('my term is over: resigned');
    await second.until(/leading, token/);
    expect(await second.end('SIGTERM')).to.deep.equal({ code: 0, signal: null });
    expect(first.stderr + second.stderr).to.equal('');
  });

  it('server.ts admits five requests at a time over two instances, and responds 429 when busy', async () => {
    const [a, b] = (await pickPorts(2)).map(String) as [string, string];
    const slow = { '1_000, undefined': '60_000, undefined', '2_000': '300', '10_000, stop': '60_000, stop' };
    const [one, two] = [
      tasks.start('server.ts', { 8080: a, ...slow }),
      tasks.start('server.ts', { 8080: b, ...slow }),
    ];
    await Promise.all([one.until(/listening/), two.until(/listening/)]);
    const request = (port: string, signal?: AbortSignal): Promise<Response> =>
      fetch(`http://127.0.0.1:${port}`, signal ? { signal } : {});
    const gone = new AbortController();
    const going = [a, b, a, b, a].map((port) => request(port, gone.signal).catch(() => 'gone'));
    await untilInLine('resizes', 5);
    const busy = await request(b);
    expect([busy.status, await busy.text()]).to.deep.equal([429, 'busy\n']);
    gone.abort();
    expect(await Promise.all(going)).to.deep.equal(going.map(() => 'gone'));
    await untilInLine('resizes', 0);
    for (const server of [one, two]) {
      expect(await server.end('SIGTERM')).to.deep.equal({ code: 0, signal: null });
      expect(server.stderr).to.equal('');
    }
  });
});
