import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import type { Backend } from '@queuelock/core/backend';
import { startPgBouncer } from '@queuelock/harness/services/pgbouncer-process';
import { postgresUrl } from '@queuelock/harness/services/postgres-process';
import type { ProcessService } from '@queuelock/harness/services/service';
import { admitted, lost, wish } from '@queuelock/harness/wishes';
import { Clients } from './clients.ts';

describe('PostgreSQL behind a pooler in transaction mode', () => {
  const clients = new Clients();
  let pooler: ProcessService;

  before(async () => {
    pooler = await startPgBouncer(clients.server);
  });
  after(() => pooler.stop());

  function pooled(): Backend {
    return clients.connect({ url: postgresUrl(pooler) });
  }

  it('hands off, since waiters poll', async () => {
    const [one, other] = [await clients.session(pooled()), await clients.session(pooled())];
    const held = wish();
    await one.enqueue(held);
    const next = await other.enqueue(wish());
    expect(next.turn.admitted).to.equal(false);
    const turn = admitted(next);
    await one.remove('jobs', held.id);
    expect((await turn).admitted).to.equal(true);
  });

  it('shows a queue to an observer', async () => {
    const [looking, joining] = [pooled(), await clients.session(pooled())];
    const three = firstValueFrom(looking.observe('seen').pipe(filter((entries) => entries.length === 3)), {
      defaultValue: [],
    });
    for (let nth = 0; nth < 3; nth += 1) await joining.enqueue(wish({ queue: 'seen' }));
    expect(await three).to.have.length(3);
  });

  it('notifies an evicted waiter', async () => {
    const [session, operator] = [await clients.session(pooled()), pooled()];
    const first = await session.enqueue(wish({ queue: 'evicted' }));
    const waiting = await session.enqueue(wish({ queue: 'evicted' }));
    const loss = lost(waiting);
    expect(first.turn.admitted).to.equal(true);
    expect(await operator.evict?.('evicted', waiting)).to.equal(true);
    expect(await loss).to.equal('ENTRY_LOST');
  });

  it('is reported by the diagnosis', async () => {
    const about = async (backend: Backend): Promise<string> =>
      (await backend.diagnose!('')).map(({ level, text }) => `${level}: ${text}`).join('\n');
    expect(await about(pooled())).to.contain('warning: what is notified does not come here');
    expect(await about(clients.connect())).to.not.contain('what is notified');
  });
});
