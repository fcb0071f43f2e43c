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
   * Longest time between two calls of `checkIn`, in milliseconds. When it has passed, liveness fails until
   * the next call or the end of the work. Default: no limit.
   */
  readonly checkInWithinMs?: number;
}

/** The arguments of `@Leads`: the name of the election, and the settings. */
export interface LeadsPlan {
  readonly name: string;
  readonly options: LeadsOptions;
}

const LEADS = Symbol.for('queuelock.leads');

/**
 * Runs the method while this process leads: from the start of the application to its shutdown, again and
 * again, one run at a time. The method must await everything that it starts, as the work of `Election.lead`
 * must. `stop` aborts when the leadership is lost, and on the shutdown, which waits for the method. If the
 * method rejects, the error is logged. The process then resigns, and campaigns again at the end of the queue
 * after a backoff of up to 2 s.
 *
 * Methods of request-scoped and transient providers make the start of the application fail, since no instance
 * of them lives that long.
 * @param name the name of the election
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the decorated member is not a method
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

/** Returns the settings that `@Leads` stored on a method, or `undefined` without the decorator. */
export function leadsPlanOf(method: object): LeadsPlan | undefined {
  return Reflect.getMetadata(LEADS, method) as LeadsPlan | undefined;
}
