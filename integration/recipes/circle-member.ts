// A process of a deadlock: it holds one lock, and waits for another lock, which may be in another store.
// Usage: circle-member.ts <member as JSON>. It begins to wait when the test sends it a message.
import { once } from 'node:events';
import { backendFromUrl } from '@queuelock/cli/src/backends.ts';
import { createLockClient, isQueueLockError, type ClaimState, type LockClient } from '@queuelock/core';
import { watchDeadlocks, yieldOnDeadlock } from '@queuelock/recipes';
import type { Observable } from 'rxjs';
import type { CircleEvent, Member, Spot } from './circle-members.ts';

const { owner, holds, waitsFor, yieldsOver = [] } = JSON.parse(process.argv[2]!) as Member;
const clients = new Map<string, LockClient>();

function say(event: CircleEvent): void {
  console.log(JSON.stringify(event));
}

async function connect({ url, ttlMs }: Spot): Promise<LockClient> {
  const client = clients.get(url) ?? createLockClient(await backendFromUrl(url), { owner, ttlMs });
  clients.set(url, client);
  return client;
}

/**
 * Resolves when the claim was granted and has released its lock again. Rejects with the error that ended the
 * wait.
 */
function takeAndRelease(claim$: Observable<ClaimState>): Promise<void> {
  return new Promise((resolve, reject) => {
    claim$.subscribe({
      next: (state) => {
        if (state.status === 'queued') say({ ev: 'waits', id: state.id });
        if (state.status === 'held') state.ownership.release().catch(reject);
        if (state.status !== 'ended') return;
        if (state.outcome === 'released') resolve();
        // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- this is always an Error
        else reject(state.error);
      },
      error: reject,
    });
  });
}

process.on('disconnect', () => process.exit());
const sources = yieldsOver.map(async (spot) => ({ client: await connect(spot), names: [spot.name] }));
const deadlocks$ = watchDeadlocks(await Promise.all(sources));
const [holder, waiter] = [await connect(holds), await connect(waitsFor)];
let end: CircleEvent = { ev: 'done' };
await holder.run(holds.name, async ({ id }) => {
  say({ ev: 'holds', id });
  await once(process, 'message');
  // Requests the second lock inside the work of `run`, in the same call chain. Only then does the entry of
  // this claim name the lock that the process already holds, which the search for deadlocks needs.
  const claim$ = waiter.claim(waitsFor.name).pipe(yieldOnDeadlock(deadlocks$));
  await takeAndRelease(claim$).catch((error: unknown) => {
    if (!isQueueLockError(error)) throw error;
    end = { ev: 'gave-up', code: error.code };
  });
});
say(end);
await Promise.all([...clients.values()].map((client) => client.close()));
process.disconnect();
