import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client } from 'pg';
import { installPackages } from './install.ts';
import { postgresUrl } from './postgres-process.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram } from './programs.ts';
import { startProcess, type Place } from './server-process.ts';
import { NotHere, type ProcessService } from './service.ts';
import { commandAs, giveTo, unprivilegedUser } from './unprivileged.ts';

/** Lines of pgbouncer.ini, by name: `{ pool_mode: 'statement' }`. */
export type PgBouncerSettings = Readonly<Record<string, string | number>>;

const DEFAULTS: PgBouncerSettings = { pool_mode: 'transaction' };

/**
 * Starts PgBouncer in front of a PostgreSQL, with transaction pooling unless `settings` select another mode.
 * Installs PgBouncer if it is absent and the process is allowed to.
 */
export async function startPgBouncer(
  server: ProcessService,
  settings: PgBouncerSettings = {},
): Promise<ProcessService> {
  assertPrepared('PgBouncer');
  if ((await findProgram('pgbouncer')) === undefined) await installPackages(['pgbouncer']);
  const program = await findProgram('pgbouncer');
  if (program === undefined) throw new NotHere('PgBouncer is not installed');
  return startProcess({
    name: 'pgbouncer',
    ports: 1,
    async command(place) {
      const user = await unprivilegedUser('postgres');
      const file = join(place.directory, 'pgbouncer.ini');
      await writeFile(file, iniOf(place, server, settings));
      await giveTo(user, place.directory, file);
      return commandAs(user, { program, args: [file] });
    },
    probe: probePgBouncer,
  });
}

function iniOf(place: Place, server: ProcessService, settings: PgBouncerSettings): string {
  const [host = '', port = ''] = server.endpoint.split(':');
  const lines = Object.entries({ ...DEFAULTS, ...settings }).map(
    ([name, value]) => `${name} = ${String(value)}\n`,
  );
  return `[databases]
postgres = host=${host} port=${port} user=postgres
[pgbouncer]
listen_addr = ${place.host}
listen_port = ${String(place.ports[0])}
unix_socket_dir =
auth_type = any
${lines.join('')}`;
}

async function probePgBouncer(place: Place): Promise<string> {
  const endpoint = `${place.host}:${String(place.ports[0])}`;
  const client = new Client({ connectionString: postgresUrl({ endpoint }), connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    await client.query('select 1');
    return 'pgbouncer';
  } finally {
    await client.end();
  }
}
