import { expect } from 'chai';
import { dirname, join } from 'node:path';
import { readlink } from 'node:fs/promises';
import { Client } from 'pg';
import { createLockClient, type LockClient } from '@queuelock/core';
import { postgres } from '@queuelock/postgres';
import { newPostgresReplica, postgresUrl } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { until } from '@queuelock/harness/services/until';
import { OwnServer } from './servers.ts';

const WITHIN_MS = 60_000;

describe('a replica of PostgreSQL that takes over', () => {
  const primary = new OwnServer();
  let replica: ProcessService;
  let requested: Client;
  const locks: LockClient[] = [];

  before(async () => {
    const binaries = dirname(await readlink(`/proc/${primary.server.pid}/exe`));
    replica = await newPostgresReplica(primary.server, join(binaries, 'pg_basebackup'));
    requested = new Client({ connectionString: postgresUrl(replica) });
    await requested.connect();
    await primary.operator.query('create table report (token bigint not null, content text not null)');
    await primary.operator.query("insert into report values (0, 'empty')");
  });
  after(async () => {
    await Promise.all(locks.splice(0).map((client) => client.close()));
    await requested.end();
    await replica.stop();
  });

  function client(server: Pick<ProcessService, 'endpoint'>, ttlMs = 10_000): LockClient {
    const made = createLockClient(postgres({ url: postgresUrl(server) }), { ttlMs });
    locks.push(made);
    return made;
  }

  it('lets two clients hold at the same time if it lagged, and fencing rejects the write of the earlier holder', async () => {
    const earlier = client(primary.server);
    await earlier.run('warm', async () => undefined);
    const lsn = (await primary.column('select pg_current_wal_insert_lsn()'))[0];
    const follows = async (): Promise<void> => {
      const { rows } = await requested.query('select pg_last_wal_replay_lsn() >= $1::pg_lsn as there', [lsn]);
      expect(rows).to.deep.equal([{ there: true }]);
    };
    await until(follows, { what: 'the replica follows', withinMs: WITHIN_MS });
    // Cuts the replica off from the primary: it keeps the data that it has received, and receives nothing
    // more.
    await requested.query("alter system set primary_conninfo = ''");
    await requested.query('select pg_reload_conf()');
    const receives = async (): Promise<void> => {
      expect((await requested.query('select 1 from pg_stat_wal_receiver')).rowCount).to.equal(0);
    };
    await until(receives, { what: 'the replica is cut off', withinMs: WITHIN_MS });
    const held = await earlier.acquire('report');
    await requested.query('select pg_promote()');
    const later = await client(replica).acquire('report');
    expect([held.held, later.held], 'two hold').to.deep.equal([true, true]);
    expect(later.token > held.token).to.equal(true);
    const write = async ({ token }: { readonly token: bigint }): Promise<number | null> =>
      (
        await requested.query('update report set token = $1, content = $2 where token <= $1', [
          String(token),
          'written',
        ])
      ).rowCount;
    expect(await write(later)).to.equal(1);
    expect(await write(held)).to.equal(0);
  }).timeout(WITHIN_MS * 2);

  it('ends the earlier hold at its deadline if the replica was synchronous', async () => {
    const held = await client(primary.server, 2_000).acquire('summary');
    const loss = new Promise((resolve) => {
      held.signal.addEventListener('abort', () => resolve(held.signal.reason));
    });
    // Simulates that the replica has taken over: the old primary waits for the replica's confirmation of each
    // commit and never gets it.
    await primary.operator.query("alter system set synchronous_standby_names = '*'");
    await primary.operator.query('select pg_reload_conf()');
    expect(await loss).to.have.property('code', 'OWNERSHIP_LOST');
  }).timeout(WITHIN_MS * 2);
});
