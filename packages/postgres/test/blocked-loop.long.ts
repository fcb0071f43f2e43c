import { describeBlockedLoop } from '@queuelock/harness/blocked-loop';
import { postgresUrl, startPostgres } from '@queuelock/harness/services/postgres-process';
import { postgres } from '@queuelock/postgres';

for (const driver of ['pg', 'postgres'] as const)
  describeBlockedLoop(`PostgreSQL over npm ${driver}`, {
    graceMs: 2_000,
    start: async () => {
      const server = await startPostgres();
      const options = { url: postgresUrl(server), driver };
      return {
        holder: { module: import.meta.resolve('@queuelock/postgres'), backend: 'postgres', options },
        connect: () => postgres(options),
        stop: () => server.stop(),
      };
    },
  });
