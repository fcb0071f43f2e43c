import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import type { Backend } from '@queuelock/core/backend';
import { startPgBouncer } from '@queuelock/harness/services/pgbouncer-process';
import { postgresUrl } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { admitted, lost, newSpec } from '@queuelock/harness/specs';
import { Clients } from './clients.ts';

for (const pool_mode of ['transaction', 'statement'])
  describe(`PostgreSQL behind a pooler in ${pool_mode} mode`, () => {
    const clients = new Clients();
    let pooler: ProcessService;

    before(async () => {
      pooler = await startPgBouncer(clients.server, { pool_mode });
    });
    after(() => pooler.stop());

    function pooled(): Backend {
      return clients.connect({ url: postgresUrl(pooler) });
    }

    it('grants the next waiter after a release, because waiters poll', async () => {
      const [one, other] = [await clients.session(pooled()), await clients.session(pooled())];
      const held = newSpec();
      await one.enqueue(held);
      const next = await other.enqueue(newSpec());
      expect(next.turn.admitted).to.equal(false);
      const turn = admitted(next);
      await one.remove('jobs', held.id);
      expect((await turn).admitted).to.equal(true);
    });

    it('shows a queue and its changes to an observer', async () => {
      const [observeOptions, joining] = [pooled(), await clients.session(pooled())];
      const three = firstValueFrom(
        observeOptions.observe('seen').pipe(filter((entries) => entries.length === 3)),
        {
          defaultValue: [],
        },
      );
      for (let nth = 0; nth < 3; nth += 1) await joining.enqueue(newSpec({ queue: 'seen' }));
      expect(await three).to.have.length(3);
    });

    it('notifies an evicted waiter', async () => {
      const [session, operator] = [await clients.session(pooled()), pooled()];
      const first = await session.enqueue(newSpec({ queue: 'evicted' }));
      const waiting = await session.enqueue(newSpec({ queue: 'evicted' }));
      const loss = lost(waiting);
      expect(first.turn.admitted).to.equal(true);
      expect(await operator.evict?.('evicted', waiting)).to.equal(true);
      expect(await loss).to.equal('ENTRY_LOST');
    });

    it('is reported by the diagnosis', async () => {
      const about = async (backend: Backend): Promise<string> =>
        (await backend.diagnose!('')).map(({ level, text }) => `${level}: ${text}`).join('\n');
      expect(await about(pooled())).to.contain('warning: notifications do not arrive here');
      expect(await about(clients.connect())).to.not.contain('notifications do not arrive');
    });
  });
