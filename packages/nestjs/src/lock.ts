import { AsyncLocalStorage } from 'node:async_hooks';
import type { RunOptions, SharedOwnership } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';
import { replaceMethod, runtimeOf, type MethodDecoratorOf } from './decorated-method.ts';
import { DEFAULT_CLIENT } from './tokens.ts';

/** Settings of `@Lock`: those of `LockClient.run`, and the name of the client. */
export interface LockOptions extends Omit<RunOptions, 'holding' | 'id' | 'stop' | 'signal'> {
  /** Name of the client, as in `QueuelockModule.forRoot`. Default `default`. */
  readonly client?: string;
}

/** The hold and the signal of a method that runs under `@Lock`. */
export interface LockContext {
  readonly ownership: SharedOwnership;
  /** A signal that aborts when the hold is lost, like the signal that `LockClient.run` passes to its work. */
  readonly stop: AbortSignal;
}

const CONTEXT = new AsyncLocalStorage<LockContext>();

/**
 * Returns the hold of the innermost method with `@Lock` around the caller, or `undefined` if there is no such
 * method.
 * @example
 * const { ownership, stop } = currentLock()!;
 * await this.ledger.book({ token: ownership.token, signal: stop });
 */
export function currentLock(): LockContext | undefined {
  return CONTEXT.getStore();
}

/**
 * Runs each call of the method under a lock. The decorated method waits for the lock and returns a promise.
 * It gets its hold from {@link currentLock}. The decorator works in providers and controllers of every scope,
 * and in their subclasses. An override without the decorator takes no lock unless it calls `super`.
 *
 * A call rejects as `LockClient.run` does, for instance with `TIMEOUT`. `QueuelockExceptionFilter` turns
 * these errors into HTTP responses.
 *
 * Not supported: a call from the constructor, and a method that returns a stream. Calls of both kinds reject
 * with `INVALID_ARGUMENT`.
 * @param name the name of the lock, or a function that returns it. The function gets the arguments of the
 *   call, and the instance as `this`
 * @typeParam Args - the arguments that the name is made of
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the decorated member is not a method
 * @example
 * \@Lock((order: string) => `orders/${order}`, { timeoutMs: 2_000 })
 * async pay(order: string, amount: number): Promise<void> {}
 */
export function Lock<Args extends readonly unknown[] = []>(
  name: string | ((...args: Args) => string),
  options: LockOptions = {},
): MethodDecoratorOf<(...args: [...Args, ...never[]]) => Promise<unknown>> {
  const { client = DEFAULT_CLIENT, ...rest } = options;
  return (target, key, descriptor) => {
    replaceMethod('@Lock', [target, key, descriptor], (call) => {
      const lock =
        typeof name === 'function' ? (Reflect.apply(name, call.instance, call.args) as string) : name;
      return runtimeOf(call)
        .client(client)
        .run(
          lock,
          (ownership, stop) =>
            CONTEXT.run({ ownership, stop }, async () =>
              withoutStream(call.label, await call.proceed(...call.args)),
            ),
          rest,
        );
    });
  };
}

/**
 * Throws if the result of a method with `@Lock` is a stream, because a stream would begin only after the
 * release of the lock.
 */
function withoutStream(label: string, result: unknown): unknown {
  if (typeof result !== 'object' || result === null || !('subscribe' in result)) return result;
  throw invalidArgument(label, result, 'returns a promise of a value under @Lock, not a stream');
}
