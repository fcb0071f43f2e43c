// The secure server is a test and no package exports it.
// eslint-disable-next-line no-restricted-imports
import { startSecureZooKeeper } from '../../packages/zookeeper/test/wire/secure-server.ts';
import { chmod } from 'node:fs/promises';
import { startRedis } from '@queuelock/harness/services';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { pickPorts } from '@queuelock/harness/services/ports';
import { startPostgres } from '@queuelock/harness/services/postgres-process';
import { giveTo, unprivilegedUser } from '@queuelock/harness/services/unprivileged';
import { fromUrl as mysqlAt } from '@queuelock/mysql';
import { fromUrl as postgresAt } from '@queuelock/postgres';
import { fromUrl as redisAt } from '@queuelock/redis';
import { fromUrl as zookeeperAt } from '@queuelock/zookeeper';
import { describeRotation, parametersOf } from './rotation.ts';

describeRotation('Redis', 'IP:127.0.0.1', async (files) => {
  const [port = 0] = await pickPorts(1);
  const { ca, cert, key } = files.server;
  const tls = {
    'tls-port': String(port),
    'tls-ca-cert-file': ca,
    'tls-cert-file': cert,
    'tls-key-file': key,
    appendonly: 'yes',
  };
  const server = await startRedis({ way: 'process', settings: tls });
  return {
    connect: () => redisAt(`rediss://127.0.0.1:${port}?${parametersOf(files)}`),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
});

for (const driver of ['pg', 'postgres'])
  describeRotation(`PostgreSQL over npm ${driver}`, 'IP:127.0.0.1', async (files) => {
    const { ca, cert, key } = files.server;
    // PostgreSQL refuses a key that other users may read.
    await chmod(key, 0o600);
    await giveTo(await unprivilegedUser('postgres'), key);
    const server = await startPostgres([
      'ssl=on',
      `ssl_ca_file=${ca}`,
      `ssl_cert_file=${cert}`,
      `ssl_key_file=${key}`,
    ]);
    const parameters = `sslmode=verify-full&${parametersOf(files)}&driver=${driver}`;
    return {
      connect: () => postgresAt(`postgres://postgres@${server.endpoint}/postgres?${parameters}`),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  });

for (const driver of ['mysql2', 'mariadb'])
  describeRotation(`MariaDB over npm ${driver}`, 'IP:127.0.0.1', async (files) => {
    const { ca, cert, key } = files.server;
    const server = await startMariaDb([`--ssl-ca=${ca}`, `--ssl-cert=${cert}`, `--ssl-key=${key}`]);
    const parameters = `${parametersOf(files)}&driver=${driver}`;
    return {
      connect: () => mysqlAt(`mysql://root@${server.endpoint}/test?${parameters}`),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  });

describeRotation('ZooKeeper', 'DNS:localhost', async (files) => {
  const server = await startSecureZooKeeper(files.certificates);
  return {
    connect: () =>
      zookeeperAt(`zks://localhost:${server.port}?${parametersOf(files)}&tickTimeMs=500&syncLimit=2`),
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
});
