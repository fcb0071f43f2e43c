// The secure server is a test and no package exports it.
// eslint-disable-next-line no-restricted-imports
import { startSecureZooKeeper } from '../../packages/zookeeper/test/wire/secure-server.ts';
import {
  mariadbWithCertificates,
  postgresWithCertificates,
  redisWithCertificates,
} from './certificate-servers.ts';
import { describeRotation, parametersOf } from './rotation.ts';

describeRotation('Redis', 'IP:127.0.0.1', redisWithCertificates);
for (const driver of ['pg', 'postgres'] as const)
  describeRotation(`PostgreSQL over npm ${driver}`, 'IP:127.0.0.1', postgresWithCertificates(driver));
for (const driver of ['mysql2', 'mariadb'] as const)
  describeRotation(`MariaDB over npm ${driver}`, 'IP:127.0.0.1', mariadbWithCertificates(driver));

describeRotation('ZooKeeper', 'DNS:localhost', async (files) => {
  const server = await startSecureZooKeeper(files.certificates);
  return {
    module: import.meta.resolve('@queuelock/zookeeper'),
    url: `zks://localhost:${server.port}?${parametersOf(files)}&tickTimeMs=500&syncLimit=2`,
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
});
