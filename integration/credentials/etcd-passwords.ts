import type { EtcdOptions } from '@queuelock/etcd';
import { startEtcd } from '@queuelock/harness/services';
import { Etcd3, Range } from 'etcd3';
import type { StartPasswordServer } from './passwords.ts';

const ROOT = { username: 'root', password: 'root-4711' };

/**
 * Returns a function that starts an etcd server with authentication and a user. The test's clients connect to
 * it over the given transport.
 */
export function etcdWithUser(transport: NonNullable<EtcdOptions['transport']>): StartPasswordServer {
  return async ({ username, password: first }) => {
    const server = await startEtcd({ way: 'process' });
    const anybody = new Etcd3({ hosts: server.endpoint });
    const [role, user] = [anybody.role('locks'), anybody.user(username)];
    await role.create();
    await role.grant({ permission: 'Readwrite', range: Range.prefix('') });
    await user.create(first);
    await user.addRole(role);
    await anybody.user(ROOT.username).create(ROOT.password);
    await anybody.user(ROOT.username).addRole('root');
    await anybody.auth.authEnable();
    anybody.close();
    const operator = new Etcd3({ hosts: server.endpoint, auth: ROOT });
    return {
      asksWhenRefused: transport === 'etcd3',
      store: {
        module: import.meta.resolve('@queuelock/etcd'),
        backend: 'etcd',
        options: { hosts: server.endpoint, transport },
      },
      change: async (password) => {
        await operator.user(username).setPassword(password);
      },
      async stop() {
        operator.close();
        await server.stop();
      },
    };
  };
}
