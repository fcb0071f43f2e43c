import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { sharedEtcd } from '../../../integration/services.ts';

describe('a process that used etcd', () => {
  it('ends by itself once everything is closed', async function () {
    this.timeout(30_000);
    const { endpoint } = await sharedEtcd('exit of @queuelock/etcd');
    const script = fileURLToPath(new URL('./whole-life.ts', import.meta.url));
    const child = fork(script, [endpoint], { silent: true });
    let printed = '';
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk) => (printed += String(chunk)));
    let closedAt = Infinity;
    child.once('message', () => {
      closedAt = performance.now();
      child.disconnect();
    });
    const code = await new Promise((resolve) => child.once('exit', resolve));
    expect({ code, printed }).to.deep.equal({ code: 0, printed: '' });
    expect(performance.now() - closedAt).to.be.lessThan(2_000);
  });
});
