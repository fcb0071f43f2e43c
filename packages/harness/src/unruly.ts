/**
 * Wraps clients of stores so that chosen calls misbehave: they throw, reject with or without effect, return
 * something else, settle twice, never settle, or emit errors late. All other calls work normally, on a real
 * server.
 */

/** Ways in which one call of a method misbehaves. With `lost` the call takes effect and rejects. With `refused` and `skipped` it has no effect. */
export const MISBEHAVIOURS = [
  'throws',
  'refused',
  'lost',
  'silent',
  'stuck',
  'undefined',
  'garbage',
  'skipped',
  'twice',
  'late error',
] as const;

export type Misbehaviour = (typeof MISBEHAVIOURS)[number];

/**
 * The calls that misbehave, with the way in which each does. Calls are numbered from 0 over all methods of a
 * client. Calls that are not in the map work normally.
 */
export type Script = ReadonlyMap<number, Misbehaviour>;

/** Invalid results for calls that misbehave. No server ever replies with such a value. */
const GARBAGE: readonly unknown[] = [
  null,
  7,
  '',
  'garbage',
  Number.NaN,
  [],
  {},
  [[]],
  [null],
  [{}],
  [['', Number.NaN]],
];

type Method = (...args: unknown[]) => unknown;

/** Makes chosen calls of one client misbehave: stores the script that chooses them, and counts the calls. */
export class UnrulyCalls {
  readonly #script: Script;
  #count = 0;
  #instead: { readonly reply: unknown } | undefined;
  #isCalm = false;

  constructor(script: Script) {
    this.#script = script;
  }

  /** Number of the client's calls so far, over all of its methods. */
  get count(): number {
    return this.#count;
  }

  /** Lets all later calls of the client work normally. */
  calm(): void {
    this.#isCalm = true;
  }

  /** Lets all later calls of the client resolve with the value `reply`, without any effect. */
  replaceBy(reply: unknown): void {
    this.#instead = { reply };
  }

  /**
   * Wraps the named methods of a client so that the calls that the script lists misbehave. All other methods
   * work normally.
   */
  of<T extends object>(client: T, methods: Readonly<Record<string, 'async' | 'sync'>>): T {
    return new Proxy(client, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        const method = (value as Method).bind(target);
        const kind = typeof name === 'string' && Object.hasOwn(methods, name) ? methods[name] : undefined;
        if (kind === undefined) return method;
        return (...args: unknown[]) => this.#call({ client: target, name: String(name), kind, method }, args);
      },
    });
  }

  #call({ client, name, kind, method }: Call, args: unknown[]): unknown {
    const nth = this.#count;
    this.#count += 1;
    const misbehaviour = this.#isCalm ? undefined : this.#script.get(nth);
    if (this.#instead && kind === 'async') return Promise.resolve(this.#instead.reply);
    const error = new TypeError(`${name}() ${misbehaviour}`);
    if (misbehaviour === 'throws') throw error;
    if (kind === 'sync') {
      const result = method(...args);
      if (misbehaviour === 'lost') throw error;
      if (misbehaviour === 'late error') emitLater(client, error);
      if (misbehaviour === 'twice') return method(...args);
      return result;
    }
    return misbehaviour === undefined
      ? method(...args)
      : misbehave(misbehaviour, { client, error, nth, effect: () => method(...args) });
  }
}

interface Call {
  readonly client: object;
  readonly name: string;
  readonly kind: 'async' | 'sync';
  readonly method: Method;
}

interface Scene {
  readonly client: object;
  readonly error: Error;
  readonly nth: number;
  readonly effect: () => unknown;
}

function misbehave(
  misbehaviour: Exclude<Misbehaviour, 'throws'>,
  { client, error, nth, effect }: Scene,
): unknown {
  if (misbehaviour === 'refused') return Promise.reject(error);
  if (misbehaviour === 'stuck') return NEVER;
  if (misbehaviour === 'skipped') return Promise.resolve(GARBAGE[nth % GARBAGE.length]);
  const result = Promise.resolve(effect());
  // oxlint-disable-next-line unicorn/no-thenable -- a promise of another library that settles twice
  if (misbehaviour === 'twice') return { then: settlingTwice(result, error) };
  if (misbehaviour === 'late error') emitLater(client, error);
  return result.then((value) => {
    if (misbehaviour === 'lost') throw error;
    if (misbehaviour === 'silent') return NEVER;
    if (misbehaviour === 'undefined') return undefined;
    return misbehaviour === 'garbage' ? GARBAGE[nth % GARBAGE.length] : value;
  });
}

const NEVER = new Promise<never>(() => undefined);

/**
 * Returns a `then` that violates the contract of promises: it calls both of its callbacks again after the
 * first fulfilment.
 */
function settlingTwice(result: Promise<unknown>, error: Error): Promise<unknown>['then'] {
  const then = (onFulfilled?: Method | null, onRejected?: Method | null): void => {
    const settleTwice = (value: unknown): void => {
      onFulfilled?.(value);
      onRejected?.(error);
      onFulfilled?.(value);
    };
    result.then(settleTwice, (failure: unknown) => onRejected?.(failure));
  };
  return then as Promise<unknown>['then'];
}

/**
 * Emits an `error` event in a later turn of the event loop. Does nothing if the emitter has no listener,
 * because Node would then throw, and no library can be blamed for that.
 */
function emitLater(client: object, error: Error): void {
  setImmediate(() => {
    const { listenerCount, emit } = client as Partial<NodeJS.EventEmitter>;
    if (listenerCount?.call(client, 'error')) emit?.call(client, 'error', error);
  });
}
