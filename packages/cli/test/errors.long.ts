import { once } from 'node:events';
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { startProxy, type TcpProxy } from '@queuelock/harness/faults';
import { issueCertificates } from '@queuelock/harness/services/certificates';
import { startTlsServer } from '@queuelock/harness/services/etcd-tls';
import type { ProcessService } from '@queuelock/harness/services/service';
import { Cli } from './cli-process.ts';

describe('a certificate file that becomes unreadable while a command runs', function () {
  this.timeout(60_000);
  let directory: string;
  let server: ProcessService;
  let proxy: TcpProxy;

  before(async function () {
    const certificates = await issueCertificates();
    if (!certificates) {
      this['skipReason'] = 'there is no openssl';
      this.skip();
    }
    directory = await mkdtemp(join(tmpdir(), 'queuelock-errors-'));
    const { ca, client } = certificates;
    for (const [name, pem] of Object.entries({ ca, cert: client.cert, key: client.key }))
      await writeFile(join(directory, name), pem);
    server = await startTlsServer(certificates);
    proxy = await startProxy(server.endpoint);
  });
  after(async () => {
    await proxy.stop();
    await server.stop();
    await rm(directory, { recursive: true });
  });

  const file = (name: string): string => join(directory, name);
  const work = [
    '--',
    process.execPath,
    '-e',
    "console.log('begun'); process.stdin.resume(); setTimeout(() => {}, 6e5)",
  ];
  const commands: Readonly<Record<string, readonly string[]>> = {
    run: ['job', ...work],
    elect: ['chief', 'me'],
    once: ['work', '1', ...work],
    contend: ['queue', '--id', 'me', '--hold', '600000'],
    watch: ['seen'],
  };
  for (const [command, args] of Object.entries(commands)) {
    it(`is reported on stderr by queuelock ${command}, which continues and ends normally`, async () => {
      const names = ['cert', 'key'].map((name) => `${name}=${file(name)}`).join('&');
      const own = file(`ca-${command}`);
      await copyFile(file('ca'), own);
      const url = `etcds://${proxy.endpoint}?ca=${own}&${names}`;
      const cli = new Cli([command, '--backend', url, ...args]);
      while (!/begun|leads|live|acquired|holds/.test(cli.stdout)) await once(cli.child.stdout!, 'data');
      await writeFile(own, 'half a fi');
      proxy.cut();
      await once(cli.child.stderr!, 'data');
      cli.child.kill('SIGTERM');
      const { code, stderr } = await cli.ending;
      expect(code, stderr).to.equal(143);
      expect(stderr).to.match(
        /^queuelock: \[UNAVAILABLE\] the credentials for a new connection cannot be read: [^\n]*; the last valid ones are used, and the next connection reads again\n$/,
      );
    });
  }
});
