import type { Context } from 'mocha';
import { execFile } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installPackages } from '@queuelock/harness/services/install';
import { assertPrepared } from '@queuelock/harness/services/prepared';
import { isReadable } from '@queuelock/harness/services/programs';
import { NotHere } from '@queuelock/harness/services/service';
import type { WorkerOptions } from './experiment.ts';
import { bootOffset } from './true-clock.ts';

const run = promisify(execFile);

// Paths at which Linux distributions install the variant of libfaketime that supports threads.
const LIBRARIES = ['lib/x86_64-linux-gnu', 'lib/aarch64-linux-gnu', 'lib64', 'lib'].map(
  (folder) => `/usr/${folder}/faketime/libfaketimeMT.so.1`,
);
// Largest lag in milliseconds of the core's clock behind the machine's boot clock, when libfaketime changes
// all other clocks. It consists of 10 ms for the steps of the boot clock, and 20 ms that the core deducts as
// a tolerance.
const BOOT_CLOCK_LAG_MS = 30;
const PROBE_RATE = 10;
const PROBED_MS = 100;
const PROBE = `
  const booted = require('os').uptime(), begun = performance.now();
  while (require('os').uptime() < booted + ${PROBED_MS / 1000});
  console.log(performance.now() - begun);
`;

/** Environment and options of a worker process that sees a fake clock. */
export type FakedWorker = Required<Pick<WorkerOptions, 'env'>> & Pick<WorkerOptions, 'clock'>;

/** Makes processes see another time than the machine's. */
export class FakeTime {
  readonly #library: string;

  private constructor(library: string) {
    this.#library = library;
  }

  /** Rejects with `NotHere` if libfaketime is not available, or has no effect on this Node. */
  static async find(): Promise<FakeTime> {
    if (process.platform !== 'linux') throw new NotHere('libfaketime is used on Linux alone');
    const library = (await here()) ?? (await installed());
    const fakeTime = new FakeTime(library);
    await fakeTime.#probe();
    return fakeTime;
  }

  /**
   * Returns the options of a worker whose clocks run at another rate than the machine's. Only the boot clock
   * keeps the machine's rate. With `alone`, the worker's lock clients do not read the boot clock.
   */
  atRate(rate: number, { alone = false }: { readonly alone?: boolean } = {}): FakedWorker {
    const clock = { rate, bootNs: bootOffset().toString(), lagMs: alone ? 0 : BOOT_CLOCK_LAG_MS, alone };
    return { env: { ...this.#env, FAKETIME: `+0 x${rate}` }, clock };
  }

  /** Returns a clock for workers whose time of day can be set at any moment, while their monotonic clock is the machine's. */
  wallClock(): WallClock {
    return new WallClock(this.#env);
  }

  get #env(): Record<string, string> {
    return { LD_PRELOAD: this.#library };
  }

  /** Checks that libfaketime has an effect: some builds of Node do not read the time from the C library. */
  async #probe(): Promise<void> {
    const { env } = this.atRate(PROBE_RATE);
    const { stdout } = await run(process.execPath, ['-e', PROBE], { env: { ...process.env, ...env } });
    // Requires only 80 % of the fake time that should have passed. The boot clock counts in steps of 10 ms, a
    // tenth of the measured time, so the measurement is coarse.
    if (Number(stdout) < 0.8 * PROBE_RATE * PROBED_MS)
      throw new NotHere(`libfaketime does not reach this Node: ${stdout.trim()} ms`);
  }
}

/** A time of day for some processes, which a test can set. */
export class WallClock {
  readonly #directory = mkdtempSync(join(tmpdir(), 'queuelock-wall-clock-'));
  readonly #file = join(this.#directory, 'offset');
  readonly #env: Record<string, string>;
  #seconds = 0;

  constructor(env: Record<string, string>) {
    this.#env = env;
    this.set(0);
  }

  /** Number of seconds by which the worker's time of day is ahead of the machine's. */
  get seconds(): number {
    return this.#seconds;
  }

  get worker(): FakedWorker {
    const env = {
      ...this.#env,
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: '1',
    };
    return { env };
  }

  /** Sets the worker's time of day to `seconds` ahead of the machine's. */
  set(seconds: number): void {
    const next = `${this.#file}.next`;
    writeFileSync(next, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`);
    renameSync(next, this.#file);
    this.#seconds = seconds;
  }

  /** Removes the file of the clock. The processes that use it must have ended. */
  remove(): void {
    rmSync(this.#directory, { recursive: true });
  }
}

async function here(): Promise<string | undefined> {
  assertPrepared('libfaketime');
  for (const library of LIBRARIES) if (await isReadable(library)) return library;
  return undefined;
}

async function installed(): Promise<string> {
  await installPackages(['libfaketime']);
  const library = await here();
  if (library === undefined) throw new NotHere('libfaketime is installed, but not where it is looked for');
  return library;
}

/**
 * Returns an object that sets the clocks of processes by libfaketime. If libfaketime is missing or has no
 * effect, it skips the test and names the cause.
 */
export async function findFakeTime(context: Context): Promise<FakeTime> {
  try {
    return await FakeTime.find();
  } catch (error) {
    if (!(error instanceof NotHere)) throw error;
    context['skipReason'] = error.message;
    return context.skip();
  }
}
