import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SafetyViolation } from '@queuelock/conformance';
import { expect } from 'chai';
import type { ChaosEvent } from '@queuelock/harness/check/event';
import { abandonTrials, startExperiment, type Experiment, type WorkerOptions } from './experiment.ts';
import { STORES } from './profiles.ts';
import { holdNow, standIn } from './standing.ts';
import type { WorkerProcess } from './worker-process.ts';

interface Scene {
  readonly experiment: Experiment;
  readonly holder: WorkerProcess;
}

for (const store of STORES) {
  describe(`an experiment on ${store} that is aborted`, function () {
    this.timeout(180_000);
    afterEach(abandonTrials);

    /**
     * Starts an experiment on servers whose leader is frozen. One worker holds, one waits, and a third worker
     * is still being started.
     */
    async function inTheMiddle(own: WorkerOptions = {}): Promise<Scene> {
      const experiment = await startExperiment({ store });
      const [holder, waiter] = await Promise.all([experiment.addWorker(own), experiment.addWorker(own)]);
      const queue = experiment.queue('a');
      await holdNow(holder, queue, 20);
      await standIn(waiter, queue);
      const leader = await experiment.cluster.leader();
      await experiment.fault('leader paused', leader.node, () => leader.freeze());
      experiment.addWorker().catch(() => undefined);
      return { experiment, holder };
    }

    it('ends without an error when no violation was found, and rejects later calls', async () => {
      const { experiment } = await inTheMiddle();
      await abandonTrials();
      expect(experiment.workers.filter(({ running }) => running)).to.be.empty;
      expect(await refusal(experiment.addWorker())).to.equal('Error: the experiment is over');
      expect(await refusal(experiment.end())).to.equal('Error: the experiment is over');
    });

    it('rejects with a `SafetyViolation` when two workers held at the same time', async () => {
      const scene = await inTheMiddle();
      await tellOfAnother(scene);
      const error = await abandonTrials().catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(SafetyViolation);
      expect((error as Error).message).to.include(`S2: ${scene.holder.id}#1 `);
    });

    it('is not checked for violations when its clients follow weaker rules than those of queuelock', async () => {
      await tellOfAnother(await inTheMiddle({ rule: 'overlong' }));
      await abandonTrials();
    });
  });
}

/**
 * Adds a history of another worker to the experiment. In this history the worker is granted the lock while
 * the holder still holds it, which is a violation.
 */
async function tellOfAnother({ experiment, holder }: Scene): Promise<void> {
  const steps = ['started', 'beat', 'enqueue', 'queued', 'acquired'] as const;
  const reported = steps.map((step) => holder.events.find(({ ev }) => ev === step)!);
  const token = String(10 ** 15);
  const t = String(BigInt(reported.at(-1)!.t) + 1_000_000n);
  const lines = reported.map((event): ChaosEvent => {
    const other = { ...event, who: 'another', t };
    return 'order' in other ? { ...other, token, order: token } : other;
  });
  const history = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
  await writeFile(join(experiment.directory, 'another.jsonl'), history);
}

function refusal(promise: Promise<unknown>): Promise<string> {
  return promise.then(() => 'none', String);
}
