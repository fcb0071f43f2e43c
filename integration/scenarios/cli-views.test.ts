import { expect } from 'chai';
import { Cli } from '@queuelock/cli/test/cli-process.ts';
import { startProxy } from '@queuelock/harness/faults';
import { sharedEtcd } from '@queuelock/harness/services';
import { describeViews, untilPrinted } from './cli-views.ts';

describe('queue views of the command line', function () {
  this.timeout(90_000);

  describeViews('etcd');

  it('the commands watch and top report that the server is unreachable, and continue when it is back', async () => {
    const { endpoint } = await sharedEtcd('cli views');
    const proxy = await startProxy(endpoint);
    const env = { QUEUELOCK_URL: `etcd://${proxy.endpoint}/cli-views` };
    const watch = new Cli(['watch', 'lost', '--json'], env);
    const top = new Cli(['top', '--every', '100', '--json'], env);
    try {
      await Promise.all([untilPrinted(watch, /"live"/), untilPrinted(top, /"live"/)]);
      proxy.refuse();
      proxy.cut();
      await Promise.all([untilPrinted(watch, /"stale"/), untilPrinted(top, /"stale"/)]);
      await proxy.heal();
      await Promise.all([untilPrinted(watch, /"stale"[^]*"live"/), untilPrinted(top, /"stale"[^]*"live"/)]);
    } finally {
      // `queuelock top` ends when its output is closed.
      top.child.stdout?.destroy();
      watch.child.kill('SIGTERM');
      const [watched, topped] = await Promise.all([watch.ending, top.ending]);
      await proxy.stop();
      expect([watched.code, topped.code]).to.deep.equal([143, 141]);
    }
  });
});
