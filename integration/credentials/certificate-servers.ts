import { chmod } from 'node:fs/promises';
import { startRedis } from '@queuelock/harness/services';
import { startMariaDb } from '@queuelock/harness/services/mariadb-process';
import { pickPorts } from '@queuelock/harness/services/ports';
import { startPostgres } from '@queuelock/harness/services/postgres-process';
import { giveTo, unprivilegedUser } from '@queuelock/harness/services/unprivileged';
import { parametersOf, type StartRotatedServer } from './rotation.ts';

/** Starts a Redis server with certificates, and returns a TLS URL for the test's clients. */
export const redisWithCertificates: StartRotatedServer = async (files) => {
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
    module: import.meta.resolve('@queuelock/redis'),
    url: `rediss://127.0.0.1:${port}?${parametersOf(files)}`,
    restart: () => server.restart(),
    stop: () => server.stop(),
  };
};

/**
 * Returns a function that starts a PostgreSQL server with certificates. The npm package `driver` connects the
 * test's clients to it.
 */
export function postgresWithCertificates(driver: 'pg' | 'postgres'): StartRotatedServer {
  return async (files) => {
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
      module: import.meta.resolve('@queuelock/postgres'),
      url: `postgres://postgres@${server.endpoint}/postgres?${parameters}`,
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  };
}

/**
 * Returns a function that starts a MariaDB server with certificates. The npm package `driver` connects the
 * test's clients to it.
 */
export function mariadbWithCertificates(driver: 'mysql2' | 'mariadb'): StartRotatedServer {
  return async (files) => {
    const { ca, cert, key } = files.server;
    const server = await startMariaDb([`--ssl-ca=${ca}`, `--ssl-cert=${cert}`, `--ssl-key=${key}`]);
    const parameters = `${parametersOf(files)}&driver=${driver}`;
    return {
      module: import.meta.resolve('@queuelock/mysql'),
      url: `mysql://root@${server.endpoint}/test?${parameters}`,
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  };
}
