import { Session } from 'node:inspector/promises';
import { Observable } from 'rxjs';
import { QueueLockError } from '../src/api/errors.ts';

/** Counts of objects whose creation is slow. */
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
  // JavaScript looks up the parent class at every `super` call. So a change of the prototype takes effect for
  // existing classes.
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
    // Excludes `__name`, which the TypeScript loader calls whenever a closure is created.
    const counted = functions.filter(({ functionName }) => functionName !== '__name');
    return counted.reduce((sum, { ranges: [whole] }) => sum + (whole?.count ?? 0), 0);
  } finally {
    inspector.disconnect();
  }
}
