import { createLockClient, type LockClient } from '@queuelock/core';
import {
  fencedUpdate,
  fencedZnode,
  fencingHeaders,
  heldInEtcd,
  sqlFences,
  type FencingHold,
} from '@queuelock/fencing';
import { memory } from '@queuelock/memory';
import { semaphore, type CohortHold, type Leadership } from '@queuelock/recipes';
import { expect } from 'chai';

/** Passes the hold to each function of `@queuelock/fencing` that makes a fence from a hold. */
const fenceAll = (hold: FencingHold): void => {
  heldInEtcd(hold);
  fencedZnode({ get: async () => undefined, set: async () => false }, '/r', hold);
  fencedUpdate('postgres', { table: 't', set: {}, where: { id: 1 }, hold });
  sqlFences('mysql').claim(hold);
  fencingHeaders(hold);
};

describe('the argument of a fence', () => {
  let locks: LockClient;

  beforeEach(() => {
    locks = createLockClient(memory());
  });

  afterEach(() => locks.close());

  it('may be an exclusive hold, but not one that `downgrade` has made shared', async () => {
    const ownership = await locks.acquire('x');
    fenceAll(ownership);
    await ownership.downgrade();
    expect(() => fenceAll(ownership)).to.throw(/INVALID_ARGUMENT.*hold is exclusive.*got "a reader"/);
  });

  it('may be a leader, or a member of a cohort', () => {
    const typed = (leader: Leadership, member: CohortHold): readonly FencingHold<'name' | 'token'>[] => [
      leader,
      member,
    ];
    expect(typed).to.be.a('function');
    // @ts-expect-error -- acquirers of a cohort share one entry, which a guard by the entry cannot tell apart
    const guarded = (member: CohortHold): FencingHold => member;
    expect(guarded).to.be.a('function');
  });

  it('may not be the shared hold of a reader', async () => {
    await locks.run('x', (ownership) => fenceAll(ownership));
    const reader = await locks.acquire('x', { mode: 'shared' });
    // @ts-expect-error -- which the compiler knows
    expect(() => fenceAll(reader)).to.throw(/INVALID_ARGUMENT.*hold is exclusive.*got "a reader"/);
  });

  it('may not be a permit of a semaphore, even in a reentrant run', async () => {
    const refusal = /INVALID_ARGUMENT.*hold is exclusive.*got "a permit of 3"/;
    const uploads = semaphore(locks, 's', { limit: 3 });
    await using permit = await uploads.acquire({ permits: 2 });
    expect([permit.limit, permit.permits]).to.deep.equal([3, 2]);
    // @ts-expect-error -- which the compiler knows
    expect(() => fenceAll(permit)).to.throw(refusal);
    // @ts-expect-error -- which the compiler knows
    await uploads.run((own) => expect(() => fenceAll(own)).to.throw(refusal), { reentrant: true });
    await using resizable = await semaphore(locks, 'r', { limit: 3, resizable: true }).acquire();
    // @ts-expect-error -- which the compiler knows
    expect(() => fenceAll(resizable)).to.throw(refusal);
  });

  it('is checked at run time when the compiler cannot check it', async () => {
    const mode = ['shared' as const, 'exclusive' as const][0]!;
    await locks.run('x', (own) => expect(() => fenceAll(own)).to.throw(/got "a reader"/), { mode });
  });
});
