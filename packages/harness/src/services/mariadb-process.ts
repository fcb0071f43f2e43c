import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createConnection, type RowDataPacket } from 'mysql2/promise';
import { splitEndpoint } from './endpoint.ts';
import { installPackages } from './install.ts';
import { assertPrepared } from './prepared.ts';
import { findProgram, firstExecutable } from './programs.ts';
import { startProcess, type Place, type ServerProgram } from './server-process.ts';
import { NotHere, type ProcessService } from './service.ts';
import { commandAs, giveTo, runAs, unprivilegedUser } from './unprivileged.ts';

/**
 * Starts a new MariaDB whose root has no password; installs MariaDB if it is absent and the process is
 * allowed to. Rejects with `NotHere` if MariaDB is not available.
 * @param options further arguments of the program
 */
export async function startMariaDb(options: readonly string[] = []): Promise<ProcessService> {
  if ((await findMariaDb()) === undefined) await installPackages(['mariadb-server']);
  return startProcess(mariaDbProgram(options));
}

/** Returns the options with which npm mysql2 connects to the MariaDB server. */
export function mariaDbAccess({ endpoint }: Pick<ProcessService, 'endpoint'>): {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly database: string;
} {
  return { ...splitEndpoint(endpoint), user: 'root', database: 'test' };
}

const mariaDbProgram = (options: readonly string[]): ServerProgram => ({
  name: 'mariadb',
  ports: 1,
  async command(place) {
    const mariadbd = await findMariaDb();
    if (mariadbd === undefined) throw new NotHere('MariaDB is not installed');
    const user = await unprivilegedUser('mysql');
    await giveTo(user, place.directory, place.data);
    const common = ['--no-defaults', `--datadir=${place.data}`];
    if (!existsSync(join(place.data, 'mysql'))) {
      const program = (await findProgram('mariadb-install-db')) ?? 'mariadb-install-db';
      const args = [...common, '--auth-root-authentication-method=normal', `--tmpdir=${place.directory}`];
      await runAs(user, { program, args }, place.directory);
    }
    const own = [
      `--bind-address=${place.host}`,
      `--port=${String(place.ports[0])}`,
      `--socket=${join(place.directory, 'socket')}`,
      `--pid-file=${join(place.directory, 'pid')}`,
      `--tmpdir=${place.directory}`,
    ];
    return commandAs(user, { program: mariadbd, args: [...common, ...own, ...options] });
  },
  probe: probeMariaDb,
});

async function probeMariaDb(place: Place): Promise<string> {
  const endpoint = `${place.host}:${String(place.ports[0])}`;
  const connection = await createConnection({ ...mariaDbAccess({ endpoint }), connectTimeout: 5_000 });
  try {
    const [rows] = await connection.query<RowDataPacket[]>('SELECT @@datadir AS data, VERSION() AS version');
    const { data, version } = rows[0] as { data: string; version: string };
    if (data !== `${place.data}/`) throw new Error(`another MariaDB answers on ${endpoint}`);
    return version.split('-')[0]!;
  } finally {
    await connection.end();
  }
}

async function findMariaDb(): Promise<string | undefined> {
  assertPrepared('MariaDB');
  return (await findProgram('mariadbd')) ?? firstExecutable(['/usr/sbin/mariadbd']);
}
