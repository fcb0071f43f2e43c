import { existsSync } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'pg';
import { installPackages } from './install.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram, firstExecutable } from './programs.ts';
import { startProcess, type Place, type ServerProgram } from './server-process.ts';
import { NotHere, type ProcessService } from './service.ts';
import { commandAs, giveTo, runAs, unprivilegedUser } from './unprivileged.ts';

const DEBIAN = '/usr/lib/postgresql';

/**
 * Starts a new PostgreSQL that accepts every password; installs it if it is absent and the process is allowed
 * to. Rejects with `NotHere` if PostgreSQL is not available.
 * @param settings lines of its configuration, `name=value`
 */
export async function startPostgres(settings: readonly string[] = []): Promise<ProcessService> {
  if ((await findPostgres()) === undefined) await installPackages(['postgresql']);
  return startProcess(postgresProgram(settings));
}

/** Creates an asynchronous replica of a server; `basebackup` is the program that copies the data. */
export async function newPostgresReplica(
  primary: ProcessService,
  basebackup: string,
): Promise<ProcessService> {
  const [host = '', port = ''] = primary.endpoint.split(':');
  const program = postgresProgram([]);
  return startProcess({
    ...program,
    async command(place) {
      if (!existsSync(join(place.data, 'PG_VERSION'))) {
        const user = await unprivilegedUser('postgres');
        await giveTo(user, place.directory, place.data);
        const args = [
          '-h',
          host,
          '-p',
          port,
          '-U',
          'postgres',
          '-D',
          place.data,
          '-R',
          '-X',
          'stream',
          '--no-sync',
        ];
        await runAs(user, { program: basebackup, args: [...args, '-c', 'fast'] }, place.directory);
      }
      return program.command(place);
    },
  });
}

/** Returns the connection URL of the server. */
export function postgresUrl({ endpoint }: Pick<ProcessService, 'endpoint'>): string {
  return `postgres://postgres@${endpoint}/postgres`;
}

const postgresProgram = (more: readonly string[]): ServerProgram => ({
  name: 'postgres',
  ports: 1,
  async command(place) {
    const postgres = await findPostgres();
    if (postgres === undefined) throw new NotHere('PostgreSQL is not installed');
    const user = await unprivilegedUser('postgres');
    await giveTo(user, place.directory, place.data);
    if (!existsSync(join(place.data, 'PG_VERSION'))) {
      const options = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'];
      const initdb = join(dirname(postgres), 'initdb');
      await runAs(user, { program: initdb, args: ['-D', place.data, ...options] }, place.directory);
    }
    const settings = [
      `listen_addresses=${place.host}`,
      `unix_socket_directories=${place.directory}`,
      'fsync=off',
      ...more,
    ];
    const args = ['-D', place.data, '-p', String(place.ports[0]), ...settings.flatMap((one) => ['-c', one])];
    return commandAs(user, { program: postgres, args });
  },
  probe: probePostgres,
});

async function probePostgres(place: Place): Promise<string> {
  const endpoint = `${place.host}:${String(place.ports[0])}`;
  const client = new Client({ connectionString: postgresUrl({ endpoint }), connectionTimeoutMillis: 5_000 });
  await client.connect();
  try {
    const { rows } = await client.query<{ data: string; version: string }>(
      `SELECT current_setting('data_directory') AS data, current_setting('server_version') AS version`,
    );
    if (rows[0]?.data !== place.data) throw new Error(`another PostgreSQL answers on ${endpoint}`);
    return rows[0].version.split(' ')[0]!;
  } finally {
    await client.end();
  }
}

/** Returns the PostgreSQL program on PATH, else the newest one in Debian's directories. */
async function findPostgres(): Promise<string | undefined> {
  assertPrepared('PostgreSQL');
  const onPath = await findProgram('postgres');
  // Resolves links, because initdb is beside the program and not beside a link to it.
  if (onPath !== undefined) return realpath(onPath);
  const versions = await readdir(DEBIAN).catch(() => []);
  const newestFirst = versions.sort((a, b) => Number(b) - Number(a));
  return firstExecutable(newestFirst.map((version) => join(DEBIAN, version, 'bin/postgres')));
}
