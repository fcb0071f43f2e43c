import type { DynamicModule } from '@nestjs/common';
import { createLockClient, type LockClientOptions } from '@queuelock/core';
import { createMemoryServer, memory, type MemoryServer } from '@queuelock/memory';
import { QueuelockModule } from './queuelock-module.ts';
import { getLockClientToken } from './tokens.ts';

/** Settings of lock clients in memory. */
export interface MemoryLocksOptions {
  /**
   * The store of the queues. Pass one to hold a lock as another client in a test, or to share queues between
   * applications. Default: a new store.
   */
  readonly server?: MemoryServer;
  /** Names of the lock clients to create. Default: only the client `default`. */
  readonly names?: readonly string[];
  /** Settings of each lock client, as in `createLockClient`, for instance a virtual clock. */
  readonly client?: LockClientOptions;
}

/** The builder that `Test.createTestingModule` returns, reduced to the method that this module calls. */
export interface ProviderOverrides {
  /** Begins to replace the provider whose injection token is `token`. */
  overrideProvider(token: symbol): ProviderOverride;
}

/** A replacement of a provider. A call of `useValue` sets the value that replaces it. */
export interface ProviderOverride {
  /** Sets the value that replaces the provider. */
  useValue(value: unknown): unknown;
}

/**
 * Replaces the lock clients of a testing module by clients in memory. If `backend` is a function, it is not
 * called.
 * @returns the builder
 * @example
 * const testing = useMemoryLocks(Test.createTestingModule({ imports: [AppModule] }));
 * const app = (await testing.compile()).createNestApplication();
 */
export function useMemoryLocks<Builder extends ProviderOverrides>(
  builder: Builder,
  { server = createMemoryServer(), names = ['default'], client }: MemoryLocksOptions = {},
): Builder {
  for (const name of names)
    builder.overrideProvider(getLockClientToken(name)).useValue(createLockClient(memory({ server }), client));
  return builder;
}

/**
 * Returns lock clients in memory as a module, for tests of single providers.
 * @example
 * const testing = Test.createTestingModule({ imports: [memoryLocks()], providers: [PaymentService] });
 */
export function memoryLocks({
  server = createMemoryServer(),
  names = ['default'],
  client = {},
}: MemoryLocksOptions = {}): DynamicModule {
  return {
    module: MemoryLocksModule,
    imports: names.map((name) =>
      QueuelockModule.forRoot({ name, client, backend: () => memory({ server }) }),
    ),
  };
}

// oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest is a class
class MemoryLocksModule {}
