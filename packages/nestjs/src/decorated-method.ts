import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { QueueLockError, invalidArgument } from '@queuelock/core/backend';
import { LockRuntime } from './lock-runtime.ts';

/** One call of a decorated method. */
export interface MethodCall {
  readonly instance: object;
  readonly args: readonly unknown[];
  /** The name of the method as `Class.method`, for messages. */
  readonly label: string;
  /** Calls the original method, without the decorator. */
  readonly proceed: (...args: readonly unknown[]) => unknown;
}

/** The type of a method that a decorator may replace. */
export type AnyMethod = (...args: never[]) => unknown;

/** A decorator that can be applied to methods of the type `Method`. */
export type MethodDecoratorOf<Method> = (
  target: object,
  key: string | symbol,
  descriptor: { value?: Method },
) => void;

/**
 * The arguments of a method decorator: the prototype, the name, and the descriptor. Decorators of the
 * ECMAScript standard get no descriptor.
 */
type Place = readonly [object, string | symbol, { value?: unknown } | undefined];

const RUNTIME = Symbol.for('queuelock.runtime');

/**
 * Replaces a method by one that calls `around`, which may call the original method. The method keeps its
 * name, its number of parameters and its metadata, so decorators above and below it keep their effect. Nest
 * injects the lock runtime into each instance of the class, also of request-scoped providers and subclasses.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the target is not a method, or if TypeScript compiles
 *   decorators by the ECMAScript standard
 */
export function replaceMethod(
  decorator: string,
  [target, key, descriptor]: Place,
  around: (call: MethodCall, method: AnyMethod) => unknown,
): void {
  const { method, replaceBy } = checkedMethod(decorator, [target, key, descriptor]);
  const label = labelOf(target, key);
  async function replaced(this: object, ...args: readonly unknown[]): Promise<unknown> {
    const proceed = (...given: readonly unknown[]): unknown => Reflect.apply(method, this, given);
    return around({ instance: this, args, label, proceed }, replaced);
  }
  Object.defineProperty(replaced, 'name', { value: method.name, configurable: true });
  Object.defineProperty(replaced, 'length', { value: method.length, configurable: true });
  for (const name of Reflect.getOwnMetadataKeys(method) as readonly unknown[])
    Reflect.defineMetadata(name, Reflect.getOwnMetadata(name, method), replaced);
  replaceBy(replaced);
  Inject(LockRuntime)(target, RUNTIME);
}

/** A method with a decorator, which the decorator may replace. */
export interface DecoratedMethod {
  readonly method: AnyMethod;
  /** Replaces the decorated method on its prototype. */
  readonly replaceBy: (method: AnyMethod) => void;
}

/** Returns the method that a decorator is applied to. */
export function checkedMethod(decorator: string, [target, key, descriptor]: Place): DecoratedMethod {
  if (descriptor === undefined)
    throw invalidArgument(
      decorator,
      key,
      'decorates a method of a class that is compiled with experimentalDecorators, as all of Nest',
    );
  if (typeof target === 'function') throw invalidArgument(decorator, key, 'decorates no static method');
  if (typeof descriptor.value === 'function')
    return {
      method: descriptor.value as AnyMethod,
      replaceBy: (method) => {
        descriptor.value = method;
      },
    };
  throw invalidArgument(decorator, key, 'decorates a method, not a property or accessor');
}

/**
 * Returns the lock runtime that Nest injected into the instance.
 * @throws {QueueLockError} `INVALID_ARGUMENT` for an instance that Nest did not create
 */
export function runtimeOf({ instance, label }: Pick<MethodCall, 'instance' | 'label'>): LockRuntime {
  const runtime: unknown = Reflect.get(instance, RUNTIME);
  if (runtime instanceof LockRuntime) return runtime;
  const text = `${label} needs an instance that Nest made from its class: not by new, in a factory, or before its constructor has returned`;
  throw new QueueLockError('INVALID_ARGUMENT', text);
}

export function labelOf(target: object, key: string | symbol): string {
  return `${target.constructor.name}.${String(key)}`;
}
