import { Cli } from '@queuelock/cli/test/cli-process.ts';
import { sharedEtcd } from '@queuelock/harness/services';
import { zooKeeperStore } from './zookeeper-store.ts';

/** For each kind of server, a function that resolves with the URL of a shared server. */
export const servers: Readonly<Record<'etcd' | 'zookeeper', () => Promise<string>>> = {
  etcd: async () => `etcd://${(await sharedEtcd('cli')).endpoint}`,
  zookeeper: async () => (await zooKeeperStore.share('cli')).url(),
};

/** The server and the functions that a test of the command uses. */
export interface CommandGround {
  readonly env: { readonly QUEUELOCK_URL: string };
  /** Starts a contender, which is killed after the test. */
  readonly contend: (name: string, ...args: string[]) => Cli;
}

/**
 * Registers hooks that provide the server and end all contenders after each test. Call it in the body of the
 * suite.
 */
export function layCommandGround(urlOf: () => Promise<string>): CommandGround {
  let env: CommandGround['env'];
  const started: Cli[] = [];

  before(async () => {
    env = { QUEUELOCK_URL: await urlOf() };
  });

  afterEach(async () => {
    for (const cli of started.splice(0)) {
      cli.child.kill('SIGKILL');
      await cli.ending;
    }
  });

  return {
    get env() {
      return env;
    },
    contend: (name, ...args) => {
      const cli = new Cli(['contend', name, '--json', ...args], env);
      started.push(cli);
      return cli;
    },
  };
}
