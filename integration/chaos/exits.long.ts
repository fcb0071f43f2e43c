import { expect } from 'chai';
import { within } from './deadline.ts';
import { abandonTrials, startExperiment, type Experiment } from './experiment.ts';
import { STORES } from './profiles.ts';
import { TEST_TIMEOUT_MS, RUNS, expectRight, oneByOne } from './runs.ts';
import type { WorkerEnding, WorkerProcess } from './worker-process.ts';

const HOLDS = 10;
const ENDS_WITHIN_MS = 2_000;

/** One kind of exit of a program, and how the test recognises it. */
interface Exit {
  readonly how: string;
  readonly leave: (worker: WorkerProcess) => void;
  readonly ending: WorkerEnding;
  /** Whether the program ends so suddenly that queuelock cannot act. */
  readonly sudden: boolean;
}

const EXITS: readonly Exit[] = [
  {
    how: 'process.exit',
    leave: (worker) => worker.tell({ do: 'end', by: 'exit' }),
    ending: { code: 7, signal: null },
    sudden: true,
  },
  {
    how: 'an error that nobody catches',
    leave: (worker) => worker.tell({ do: 'end', by: 'throw' }),
    ending: { code: 1, signal: null },
    sudden: true,
  },
  {
    how: 'SIGTERM',
    leave: ({ pid }) => process.kill(pid, 'SIGTERM'),
    ending: { code: null, signal: 'SIGTERM' },
    sudden: true,
  },
  {
    how: 'closing its client',
    leave: (worker) => worker.tell({ do: 'close' }),
    ending: { code: 0, signal: null },
    sudden: false,
  },
];

// Does not test aborted waits. ../scenarios/giving-up.test.ts tests them, and
// packages/core/test/cancel.test.ts aborts at every `await` of the core.
for (const store of STORES) {
  describe(`programs that end while they hold, on three members of ${store}`, function () {
    this.timeout(TEST_TIMEOUT_MS + RUNS * 30_000);
    afterEach(abandonTrials);

    it(`exit within 2 s although they hold ${HOLDS} locks, and the next waiters are granted`, async () => {
      const experiment = await startExperiment({ store });
      const next = await experiment.addWorker();
      await oneByOne(async (run) => {
        const programs = await Promise.all(
          EXITS.map(async (exit, way) => Program.start({ experiment, exit, next, name: `${run}-${way}` })),
        );
        await Promise.all(programs.map((program) => program.end()));
        for (const { queues } of programs) {
          for (const queue of queues) {
            await next.untilEvent('acquired', { queue });
            next.tell({ do: 'release', queue });
          }
        }
      });
      await expectRight(experiment);
    });
  });
}

interface ProgramStart {
  readonly experiment: Experiment;
  readonly exit: Exit;
  /** The worker that waits in all queues whose locks the ending program holds. */
  readonly next: WorkerProcess;
  readonly name: string;
}

/** A worker process that holds many locks until it ends. */
class Program {
  readonly queues: readonly string[];
  readonly #experiment: Experiment;
  readonly #exit: Exit;
  readonly #worker: WorkerProcess;

  private constructor({ experiment, exit }: ProgramStart, worker: WorkerProcess, queues: readonly string[]) {
    this.queues = queues;
    this.#experiment = experiment;
    this.#exit = exit;
    this.#worker = worker;
  }

  static async start(start: ProgramStart): Promise<Program> {
    const { experiment, next, name } = start;
    const queues = Array.from({ length: HOLDS }, (_, index) => experiment.queue(`${name}-${index}`));
    const worker = await experiment.addWorker();
    for (const queue of queues) worker.tell({ do: 'hold', queue });
    await Promise.all(queues.map((queue) => worker.untilEvent('acquired', { queue })));
    for (const queue of queues) next.tell({ do: 'hold', queue });
    await Promise.all(queues.map((queue) => next.untilEvent('queued', { queue })));
    return new Program(start, worker, queues);
  }

  async end(): Promise<void> {
    const { how, leave, ending, sudden } = this.#exit;
    const worker = this.#worker;
    leave(worker);
    const ended = await within(ENDS_WITHIN_MS, worker.ended, how);
    // Records a sudden exit as a kill only after the process has ended. Until then the program may have sent
    // another heartbeat, and the checker reports every heartbeat after a kill.
    if (sudden) this.#experiment.recorder.tell({ ev: 'killed', worker: worker.id });
    expect(ended, how).to.deep.equal(ending);
  }
}
