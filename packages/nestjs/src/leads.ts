import 'reflect-metadata';
import type { CheckIn, Leadership, LeadOptions } from '@queuelock/recipes';
import { checkedMethod, type MethodDecoratorOf } from './decorated-method.ts';

/** Settings of `@Leads`. */
export interface LeadsOptions extends Pick<LeadOptions, 'minRemainingMs' | 'workTimeoutMs'> {
  /** Name of the client, as in `QueuelockModule.forRoot`. Default `default`. */
  readonly client?: string;
  /** Value of this candidate that all observers see; at most 1,024 bytes. Default: host and process id. */
  readonly value?: string;
  /**
   * Longest time between two calls of `checkIn`, in milliseconds. After that liveness fails until the next call or the end of the work.
   * Default: not checked.
   */
  readonly checkInWithinMs?: number;
}

/** A method with `@Leads`. */
export interface LeadsPlan {
  readonly name: string;
  readonly options: LeadsOptions;
}

const LEADS = Symbol.for('queuelock.leads');

/**
 * Runs the method while this process leads: from the start of the application to its shutdown, again and again, one run at a time. The method
 * awaits what it starts, as the work of `Election.lead`. `stop` aborts on a loss and on the shutdown, which waits for the method. An error of the
 * method is logged; the process then resigns, and campaigns again at the end of the queue after a backoff of up to 2 s.
 *
 * Request-scoped and transient providers are refused when the application starts, since no instance of them lives that long.
 * @param name of the election
 * @throws {QueueLockError} `INVALID_ARGUMENT` where it does not decorate a method
 * @example
 * \@Leads('scheduler')
 * async schedule(leadership: Leadership, stop: AbortSignal): Promise<void> {}
 */
export function Leads(
  name: string,
  options: LeadsOptions = {},
): MethodDecoratorOf<(leadership: Leadership, stop: AbortSignal, checkIn: CheckIn) => Promise<unknown>> {
  return (target, key, descriptor) => {
    const { method } = checkedMethod('@Leads', [target, key, descriptor]);
    Reflect.defineMetadata(LEADS, { name, options } satisfies LeadsPlan, method);
  };
}

/** Returns what `@Leads` said of a method. */
export function leadsPlanOf(method: object): LeadsPlan | undefined {
  return Reflect.getMetadata(LEADS, method) as LeadsPlan | undefined;
}
