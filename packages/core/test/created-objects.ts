import { Session } from 'node:inspector/promises';
import { Observable } from 'rxjs';
import { QueueLockError } from '../src/api/errors.ts';

/** Objects that are expensive to create. */
export interface Made {
  readonly abortControllers: number;
  readonly timers: number;
  readonly errors: number;
  readonly subscriptions: number;
}

/** Counts the objects that this process creates while `work` runs. */
export async function madeBy(work: () => Promise<unknown>): Promise<Made> {
  const made = { abortControllers: 0, timers: 0, errors: 0, subscriptions: 0 };
  const { AbortController, setTimeout } = globalThis;
  const streams = Observable.prototype as { subscribe: (...args: unknown[]) => unknown };
  const { subscribe } = streams;
  const base: unknown = Object.getPrototypeOf(QueueLockError);
  globalThis.AbortController = class extends AbortController {
    constructor() {
      super();
      made.abortControllers += 1;
    }
  };
  globalThis.setTimeout = Object.assign((...args: Parameters<typeof setTimeout>) => {
    made.timers += 1;
    return setTimeout(...args);
  }, setTimeout);
  streams.subscribe = function counted(this: unknown, ...args) {
    made.subscriptions += 1;
    return Reflect.apply(subscribe, this, args);
  };
  // JavaScript resolves `super` at every call, so changing the prototype takes effect at once.
  Object.setPrototypeOf(
    QueueLockError,
    class extends Error {
      constructor(...args: ConstructorParameters<typeof Error>) {
        super(...args);
        made.errors += 1;
      }
    },
  );
  try {
    await work();
  } finally {
    Object.assign(globalThis, { AbortController, setTimeout });
    streams.subscribe = subscribe;
    Object.setPrototypeOf(QueueLockError, base as object);
  }
  return made;
}

const OURS = /packages\/(?:core|memory)\/src|\/rxjs\//;

/** Counts the calls of functions of this package, of the memory backend and of RxJS while `work` runs. */
export async function callsBy(work: () => Promise<unknown>): Promise<number> {
  const inspector = new Session();
  inspector.connect();
  try {
    await inspector.post('Profiler.enable');
    await inspector.post('Profiler.startPreciseCoverage', { callCount: true });
    await work();
    const { result } = await inspector.post('Profiler.takePreciseCoverage');
    const functions = result.filter(({ url }) => OURS.test(url)).flatMap((script) => script.functions);
    // Leaves out `__name`, which the loader of sources calls whenever a closure is created.
    const counted = functions.filter(({ functionName }) => functionName !== '__name');
    return counted.reduce((sum, { ranges: [whole] }) => sum + (whole?.count ?? 0), 0);
  } finally {
    inspector.disconnect();
  }
}
