import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, rmSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { until } from '../../src/services/until.ts';
import { namespacesInUse, runs, sharedTraces } from '../../src/clusters/machine-facts.ts';

const here = (file: string): string => JSON.stringify(new URL(file, import.meta.url).href);

interface Started {
  readonly description: string;
  readonly absent: readonly (readonly [string, string])[];
  readonly endpoints: readonly string[];
  readonly directories: readonly string[];
  readonly pids: readonly number[];
  readonly namespaces: readonly string[];
}

/**
 * Runs a process that starts an etcd cluster and reports its resources. `lastLine` is the JavaScript code with
 * which the process ends itself.
 */
async function endAfterStart(
  options: object,
  lastLine: string,
  user: readonly string[] = [],
): Promise<Started> {
  // Wraps the code in an async function, because Node runs it as a script. The option for a module,
  // --input-type, would also apply to the processes that this process starts.
  const source = `(async () => {
    const { startEtcdCluster } = await import(${here('../../src/clusters.ts')});
    const { tracesOf } = await import(${here('../../src/clusters/machine-facts.ts')});
    const cluster = await startEtcdCluster(${JSON.stringify(options)});
    const { description, endpoints, members } = cluster;
    const absent = [...cluster.absent];
    const directories = members.map(({ directory }) => directory);
    console.log(JSON.stringify({ description, absent, endpoints, directories, ...tracesOf(process.pid) }));
    ${lastLine}
  })();`;
  const args = [...user, process.execPath, ...process.execArgv, '-e', source];
  const parent = spawn('env', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = once(parent, 'exit');
  const output = text(parent.stdout);
  await gone;
  return JSON.parse(await output) as Started;
}

async function disappear({ pids, namespaces }: Started, device: string): Promise<void> {
  await until(
    async () => {
      const used = namespacesInUse();
      expect(pids.filter(runs)).to.deep.equal([]);
      expect(namespaces.filter((namespace) => used.has(namespace))).to.deep.equal([]);
      expect(sharedTraces().links).to.not.include(device);
    },
    { what: 'all that the cluster had is gone', withinMs: 5_000 },
  );
}

const ROOT_ON_LINUX = process.platform === 'linux' && process.getuid?.() === 0;

describe('a cluster of a test process', () => {
  before(function () {
    if (ROOT_ON_LINUX) return;
    this['skipReason'] = 'only root on Linux has network namespaces to look for';
    this.skip();
  });

  for (const network of ['namespaces', 'proxies']) {
    // Requires no kind of network, so that the test covers the default: namespaces where they are available.
    const options = network === 'namespaces' ? { diskMiB: 200 } : { network };
    const where = network === 'namespaces' ? /in network namespaces$/ : /behind proxies$/;

    it(`ends and leaves nothing behind when the test process exits early (${network})`, async () => {
      const started = await endAfterStart(options, 'process.exit(3);');
      expect(started.description).to.match(where);
      await disappear(started, `queuelock${started.endpoints[0]!.split('.')[2]!}`);
      for (const directory of started.directories) expect(existsSync(directory)).to.equal(false);
    });

    it(`ends and leaves only directories behind when the test process is killed (${network})`, async () => {
      const started = await endAfterStart(options, 'process.kill(process.pid, "SIGKILL");');
      try {
        await disappear(started, `queuelock${started.endpoints[0]!.split('.')[2]!}`);
      } finally {
        // Removes the directories of the cluster, because the killed process and its children could not.
        for (const directory of started.directories) rmSync(directory, { recursive: true, force: true });
      }
    });
  }

  it('runs over proxies and reports the reason when the test process may not make namespaces', async () => {
    const unprivileged = [
      'setpriv',
      '--reuid=65534',
      '--regid=65534',
      '--clear-groups',
      '--inh-caps=-all',
      '--',
    ];
    const started = await endAfterStart({ diskMiB: 200 }, 'await cluster.stop();', unprivileged);
    expect(started.description).to.match(
      /^etcd \d+\.\d+\.\d+, three members behind proxies \(no network namespaces: only root can link/,
    );
    expect(Object.fromEntries(started.absent))
      .to.have.property('disk')
      .that.matches(/not permitted/);
  });
});
