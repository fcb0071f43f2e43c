import { createMemoryServer, memory, type Intercept } from '@queuelock/memory';
import { expect } from 'chai';
import fc from 'fast-check';
import { createLockClient, type LockClient } from '../src/index.ts';
import { safely } from '@queuelock/harness/safety';

/** The outcome of a request on the simulated network. `answer lost`: the request takes effect, but its reply is lost. */
type Fate = 'arrives' | 'answer lost' | 'request lost';

const fates = fc.infiniteStream(
  fc.oneof(
    { weight: 8, arbitrary: fc.constant<Fate>('arrives') },
    { weight: 1, arbitrary: fc.constant<Fate>('answer lost') },
    { weight: 1, arbitrary: fc.constant<Fate>('request lost') },
  ),
);
const plans = fc.array(
  fc.record({ client: fc.nat(2), way: fc.constantFrom('signal', 'unsubscribe', 'never') }),
  { minLength: 2, maxLength: 6 },
);

/**
 * A property of fast-check: one client holds at a time, grants follow the order of the queue, and no entry is left. Three clients claim one name and
 * cancel, while requests and replies are lost. The order of all events is random.
 */
export const anyInterleaving: fc.IAsyncProperty<unknown> = fc.asyncProperty(
  fc.scheduler(),
  fates,
  plans,
  async (scheduler, fate, plan) => {
    const server = createMemoryServer();
    const intercept: Intercept = async (call, proceed) => {
      // The simulated network never loses the request that closes a session. Otherwise the session would stay
      // on the server until its TTL ends.
      const [next = 'arrives'] = call === 'close' ? [] : fate.take(1);
      await scheduler.schedule(Promise.resolve(), `${call} sent`);
      if (next === 'request lost') throw new Error('request lost');
      const reply = proceed();
      await scheduler.schedule(Promise.resolve(), `${call} answered`);
      if (next === 'answer lost') throw new Error('answer lost');
      return reply;
    };
    const deliver = (arrive: () => void): void => {
      void scheduler.schedule(Promise.resolve(), 'event').then(arrive);
    };
    const clients = [0, 1, 2].map(() => createLockClient(memory({ server, intercept, deliver })));
    const history: bigint[] = [];
    let holders = 0;
    let mostHolders = 0;
    const done = plan.map(({ client, way }) => contend(clients[client]!, way));

    function contend(client: LockClient, way: string): Promise<unknown> {
      const abort = new AbortController();
      return new Promise((resolve) => {
        const subscription = client.claim('x', { signal: abort.signal }).subscribe((state) => {
          if (state.status === 'held') {
            holders++;
            history.push(state.ownership.order);
            mostHolders = Math.max(mostHolders, holders);
            void scheduler.schedule(Promise.resolve(), 'work').then(() => {
              holders--;
              void state.ownership.release();
            });
          }
          if (state.status === 'ended') resolve(state);
        });
        if (way === 'never') return;
        void scheduler.schedule(Promise.resolve(), way).then(() => {
          if (way === 'signal') abort.abort(new Error('given up'));
          else if (holders === 0 || server.queues().get('x')?.length === 0) subscription.unsubscribe();
          else return;
          if (way === 'unsubscribe') resolve('left');
        });
      });
    }

    const end = scheduler.waitFor(Promise.all(done));
    await end;
    const closing = Promise.all(clients.map((client) => client.close()));
    await scheduler.waitFor(closing);
    safely(() => {
      expect(mostHolders, 'holders at once').to.be.at.most(1);
      expect(history, 'grants follow the order').to.deep.equal([...history].sort((a, b) => (a < b ? -1 : 1)));
    });
    expect(server.entryCount, 'entries').to.equal(0);
    expect(server.watcherCount, 'watchers').to.equal(0);
    server.close();
  },
);
