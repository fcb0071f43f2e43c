import { describeBlockedLoop } from '@queuelock/harness/blocked-loop';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { mysql } from '@queuelock/mysql';

for (const driver of ['mysql2', 'mariadb'] as const)
  describeBlockedLoop(`MariaDB over npm ${driver}`, {
    graceMs: 2_000,
    start: async () => {
      const server = await startMariaDb();
      const options = { url: `mysql://root@${server.endpoint}/test`, driver };
      return {
        holder: { module: import.meta.resolve('@queuelock/mysql'), backend: 'mysql', options },
        connect: () => mysql(options),
        stop: () => server.stop(),
      };
    },
  });
