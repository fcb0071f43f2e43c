import { Global, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { LockClient } from '@queuelock/core';
import { invalidArgument } from '@queuelock/core/backend';
import { QueuelockHealthIndicator } from './health-indicator.ts';
import { Leaders } from './leaders.ts';
import { LockRuntime } from './lock-runtime.ts';
import {
  checkedSettings,
  clientOf,
  type LockClientSettings,
  type QueuelockModuleAsyncOptions,
  type QueuelockModuleOptions,
} from './module-options.ts';
import { checkedShutdown } from './shutdown-options.ts';
import { DEFAULT_CLIENT, getLockClientToken, optionsToken, registrationToken } from './tokens.ts';

/** Provides the lock runtime once for each application, also when the application has several clients. */
// oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest is a class
class LockRuntimeModule {}

Global()(LockRuntimeModule);
Module({
  imports: [DiscoveryModule],
  providers: [
    { provide: LockRuntime, useFactory: () => new LockRuntime() },
    {
      provide: Leaders,
      useFactory: (runtime: LockRuntime, discovery: DiscoveryService, scanner: MetadataScanner) =>
        new Leaders(runtime, discovery, scanner),
      inject: [LockRuntime, DiscoveryService, MetadataScanner],
    },
    {
      provide: QueuelockHealthIndicator,
      useFactory: (runtime: LockRuntime) => new QueuelockHealthIndicator(runtime),
      inject: [LockRuntime],
    },
  ],
  exports: [LockRuntime, QueuelockHealthIndicator],
})(LockRuntimeModule);

/**
 * Global module of Nest that provides lock clients to an application. Import it once for each client in the
 * root module. `@InjectLocks` injects the clients, and `@Lock`, `@Leads` and `@OncePer` use them. The clients
 * close when the application shuts down. Call `app.enableShutdownHooks()`, so that process signals shut it
 * down, and do not call `closeOnSignals` too.
 * @example
 * \@Module({ imports: [QueuelockModule.forRoot({ backend: () => etcd({ hosts: '127.0.0.1:2379' }) })] })
 * export class AppModule {}
 */
// oxlint-disable-next-line typescript/no-extraneous-class -- a module of Nest is a class
export class QueuelockModule {
  /**
   * Adds a lock client to the application.
   * @throws {QueueLockError} `INVALID_ARGUMENT` for invalid options. If two clients have the same name, the
   * start of the application throws it
   */
  static forRoot(options: QueuelockModuleOptions): DynamicModule {
    const { name = DEFAULT_CLIENT, ...settings } = options;
    const checked = checkedSettings(settings);
    checkedShutdown(checked.shutdown);
    return moduleOf(checkedName(name), { provide: optionsToken(name), useFactory: () => checked });
  }

  /**
   * Adds a client whose settings a factory returns. If the settings are invalid, the start of the application
   * fails with the errors that `forRoot` throws.
   * @example
   * QueuelockModule.forRootAsync({
   *   inject: [ConfigService],
   *   useFactory: (config: ConfigService) => ({ backend: () => etcd({ hosts: config.getOrThrow('ETCD') }) }),
   * });
   */
  static forRootAsync(options: QueuelockModuleAsyncOptions): DynamicModule {
    const { name = DEFAULT_CLIENT, imports = [], inject = [], useFactory } = options;
    if (typeof useFactory !== 'function') throw invalidArgument('useFactory', useFactory, 'is a function');
    const provider: Provider = {
      provide: optionsToken(checkedName(name)),
      useFactory: async (...injected: readonly unknown[]) => checkedSettings(await useFactory(...injected)),
      inject,
    };
    return moduleOf(name, provider, imports);
  }
}

Module({})(QueuelockModule);

function moduleOf(name: string, options: Provider, imports: DynamicModule['imports'] = []): DynamicModule {
  const client = getLockClientToken(name);
  return {
    module: QueuelockModule,
    global: true,
    imports: [LockRuntimeModule, ...imports],
    providers: [
      options,
      { provide: client, useFactory: clientOf, inject: [optionsToken(name)] },
      {
        provide: registrationToken(name),
        useFactory: (runtime: LockRuntime, added: LockClient, { shutdown }: LockClientSettings) => {
          runtime.add(name, added, checkedShutdown(shutdown));
          return name;
        },
        inject: [LockRuntime, client, optionsToken(name)],
      },
    ],
    exports: [client],
  };
}

function checkedName(name: string): string {
  if (typeof name === 'string' && name.length > 0) return name;
  throw invalidArgument('name', name, 'is a text that is not empty');
}
