import { Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { type DiscoveryService, type MetadataScanner } from '@nestjs/core';
import { invalidArgument } from '@queuelock/core/backend';
import { election, type CheckIn, type Leadership } from '@queuelock/recipes';
import { hostname } from 'node:os';
import { labelOf } from './decorated-method.ts';
import { leadsPlanOf, type LeadsPlan } from './leads.ts';
import type { LockRuntime } from './lock-runtime.ts';
import { DEFAULT_CLIENT } from './tokens.ts';

type ProviderWrapper = ReturnType<DiscoveryService['getProviders']>[number];

interface LeadingMethod extends LeadsPlan {
  readonly instance: object;
  readonly key: string;
}

/** Starts the methods with `@Leads` when the application has started. */
export class Leaders implements OnApplicationBootstrap {
  readonly #runtime: LockRuntime;
  readonly #discovery: DiscoveryService;
  readonly #scanner: MetadataScanner;
  readonly #logger = new Logger('Queuelock');

  constructor(runtime: LockRuntime, discovery: DiscoveryService, scanner: MetadataScanner) {
    this.#runtime = runtime;
    this.#discovery = discovery;
    this.#scanner = scanner;
  }

  /**
   * Starts all methods with `@Leads`.
   * @throws {QueueLockError} `INVALID_ARGUMENT` for a method of a request-scoped or transient provider
   */
  onApplicationBootstrap(): void {
    for (const method of this.#methods()) void this.#runtime.inBackground(() => this.#lead(method));
  }

  #methods(): readonly LeadingMethod[] {
    const wrappers = [...this.#discovery.getProviders(), ...this.#discovery.getControllers()];
    // Nest has one `InstanceWrapper` for a provider and one for each alias of the provider, with the same
    // instance. Each instance is visited only once.
    const seen = new Set<unknown>();
    return wrappers.flatMap((wrapper) => {
      const instance: unknown = wrapper.instance;
      if (typeof instance !== 'object' || instance === null || seen.has(instance)) return [];
      seen.add(instance);
      return this.#methodsOf(wrapper, instance);
    });
  }

  #methodsOf(wrapper: ProviderWrapper, instance: object): readonly LeadingMethod[] {
    const prototype: unknown = Object.getPrototypeOf(instance);
    if (typeof prototype !== 'object' || prototype === null) return [];
    return this.#scanner.getAllMethodNames(prototype).flatMap((key) => {
      const method: unknown = Reflect.get(prototype, key);
      const plan = typeof method === 'function' ? leadsPlanOf(method) : undefined;
      if (plan && (wrapper.isTransient || !wrapper.isDependencyTreeStatic()))
        throw invalidArgument(
          '@Leads',
          labelOf(prototype, key),
          'is a method of a provider of the default scope',
        );
      return plan ? [{ ...plan, instance, key }] : [];
    });
  }

  async #lead({ name, options, instance, key }: LeadingMethod): Promise<void> {
    const {
      client = DEFAULT_CLIENT,
      value = `${hostname()}:${process.pid}`,
      checkInWithinMs,
      ...rest
    } = options;
    const label = labelOf(instance, key);
    const run = async (leadership: Leadership, stop: AbortSignal, checkIn: CheckIn): Promise<void> => {
      const method = Reflect.get(instance, key) as (...args: readonly unknown[]) => unknown;
      try {
        await Reflect.apply(method, instance, [leadership, stop, checkIn]);
      } catch (error) {
        // Logs the failure of the method with `@Leads`. This process then resigns, so that another process
        // may lead.
        if (!stop.aborted) this.#logger.error(`${label} failed while it led`, error);
      }
    };
    try {
      await election(this.#runtime.client(client), name, { value }).lead(
        (leadership, stop) =>
          checkInWithinMs === undefined
            ? run(leadership, stop, () => undefined)
            : this.#runtime
                .health(client)
                .supervise(label, (checkIn) => run(leadership, stop, checkIn), { checkInWithinMs }),
        { ...rest, signal: this.#runtime.stop },
      );
    } catch (error) {
      this.#logger.error(`${label} no longer leads`, error);
    }
  }
}
