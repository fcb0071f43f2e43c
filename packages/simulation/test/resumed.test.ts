import { expect } from 'chai';
import { product } from '../src/product.ts';
import type { ClientPlan, Fault, Plan, Step } from '../src/run/plan.ts';
import { play } from '../src/run/play.ts';

describe('a process that resumes the session of another process', () => {
  const step = { afterMs: 0, queue: 'a', permits: 1, waitTimeoutMs: undefined, minRemainingMs: 0 };
  const holds: Step = { ...step, way: 'acquire', holdMs: 20_000 };
  const waits: Step = { ...step, afterMs: 1_000, way: 'claim', holdMs: 0, waitTimeoutMs: 20_000 };
  const client: ClientPlan = {
    ...{ ttlMs: 10_000, rate: 1, naming: 'go', watches: undefined },
    lanes: [[holds], [waits]],
  };
  const fault = { client: 0, member: 0, degree: 0 } as const;
  const faults: readonly Fault[] = [
    { ...fault, kind: 'entry is removed', atMs: 3_000, forMs: 1 },
    { ...fault, kind: 'client moves', atMs: 3_001, forMs: 1_000 },
  ];

  for (const store of ['etcd', 'zookeeper'] as const)
    it(`is granted the lock on ${store} once the entries of the other process are removed`, async () => {
      const plan: Plan = {
        ...{ store, seed: 1, members: 1, version: '3.5.30', isProxied: false, queues: ['a', 'b'] as const },
        ...{ clients: [client], faults },
      };
      const { broken, story } = await play(product, plan);
      expect(broken, story.join('\n')).to.equal(undefined);
      expect(story.join('\n')).to.include("c0'r0 HOLDS a").and.not.include('gets nothing');
    });
});
