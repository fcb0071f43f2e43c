import { BlockedLoop, expectKept } from '@queuelock/harness/blocked-loop';
import { expect } from 'chai';
import {
  mariadbWithCertificates,
  postgresWithCertificates,
  redisWithCertificates,
} from './certificate-servers.ts';
import { ETCD_NAMES, etcdWithCertificates } from './etcd-certificates.ts';
import { etcdWithUser } from './etcd-passwords.ts';
import { mariadbWithUser, postgresWithUser, redisWithUser } from './password-servers.ts';
import { connect, type StartPasswordServer } from './passwords.ts';
import {
  connectTo,
  renewClient,
  renewServer,
  withTwoGenerations,
  type StartRotatedServer,
} from './rotation.ts';

const ACCOUNT = { username: 'rotating', password: 'one-4711' };
const MAX_BLOCKED_MS = 90_000;
// TTL for tests in which clients log in again, which takes seconds on a busy machine.
const LOGIN_TTL_MS = 15_000;
// TTL for tests in which a server restarts, which takes some seconds.
const RESTART_TTL_MS = 20_000;

const PASSWORDS: readonly (readonly [string, StartPasswordServer])[] = [
  ['etcd over socket', etcdWithUser('socket')],
  ['etcd over http2', etcdWithUser('http2')],
  ['etcd over etcd3', etcdWithUser('etcd3')],
  ['Redis', redisWithUser],
  ['PostgreSQL over npm pg', postgresWithUser('pg')],
  ['PostgreSQL over npm postgres', postgresWithUser('postgres')],
  ['MariaDB over npm mysql2', mariadbWithUser('mysql2')],
  ['MariaDB over npm mariadb', mariadbWithUser('mariadb')],
];

const CERTIFICATES: readonly (readonly [string, string, StartRotatedServer])[] = [
  ['etcd over socket', ETCD_NAMES, etcdWithCertificates('socket')],
  ['etcd over http2', ETCD_NAMES, etcdWithCertificates('http2')],
  ['etcd over etcd3', ETCD_NAMES, etcdWithCertificates('etcd3')],
  ['Redis', 'IP:127.0.0.1', redisWithCertificates],
  ['PostgreSQL over npm pg', 'IP:127.0.0.1', postgresWithCertificates('pg')],
  ['PostgreSQL over npm postgres', 'IP:127.0.0.1', postgresWithCertificates('postgres')],
  ['MariaDB over npm mysql2', 'IP:127.0.0.1', mariadbWithCertificates('mysql2')],
  ['MariaDB over npm mariadb', 'IP:127.0.0.1', mariadbWithCertificates('mariadb')],
];

describe('the credentials of a holder whose event loop is blocked', function () {
  this.timeout(180_000);

  for (const [store, start] of PASSWORDS)
    it(`are used for a new log-in when the server closes the connections, so that the lock is kept: ${store}`, async () => {
      const server = await start(ACCOUNT);
      const loop = await BlockedLoop.on({
        holder: {
          module: import.meta.resolve('./logged-in.ts'),
          backend: 'loggedIn',
          options: { ...server.store, account: ACCOUNT },
        },
        connect: () => connect(server.store, async () => ACCOUNT),
        stop: () => server.stop(),
      });
      try {
        const { report } = await loop.run(
          { maxBlockedMs: MAX_BLOCKED_MS, ttlMs: LOGIN_TTL_MS, blockMs: 25_000 },
          () => server.change(ACCOUNT.password),
        );
        expectKept(report);
        expect(report.errors.join()).not.to.include('4711');
      } finally {
        await loop.close();
      }
    });

  for (const [store, names, start] of CERTIFICATES)
    it(`are read from files again when the server restarts with a new certificate authority: ${store}`, async function () {
      const isDone = await withTwoGenerations(names, async (files, fresh) => {
        const server = await start(files);
        const loop = await BlockedLoop.on({
          holder: { module: server.module, backend: 'fromUrl', options: server.url },
          connect: () => connectTo(server),
          stop: () => server.stop(),
        });
        try {
          const block = { maxBlockedMs: MAX_BLOCKED_MS, ttlMs: RESTART_TTL_MS, blockMs: 25_000 };
          const { report } = await loop.run(block, async () => {
            await renewServer(files, fresh);
            await renewClient(files, fresh);
            await server.restart();
          });
          expectKept(report);
        } finally {
          await loop.close();
        }
      });
      if (isDone) return;
      this['skipReason'] = 'needs openssl';
      this.skip();
    });
});
