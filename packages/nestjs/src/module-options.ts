import type { FactoryProvider, ModuleMetadata } from '@nestjs/common';
import { createLockClient, type Backend, type LockClient, type LockClientOptions } from '@queuelock/core';
import { checkedOptions, invalidArgument, type KnownOptions } from '@queuelock/core/backend';
import type { ShutdownOptions } from './shutdown-options.ts';

/** Settings of one lock client of an application. */
export interface LockClientSettings {
  /**
   * The store, or a function that returns it. The function is not called in a test that replaces the client.
   */
  readonly backend: Backend | (() => Backend);
  /** Settings of the client, as in `createLockClient`. */
  readonly client?: LockClientOptions;
  /** How the client closes when the application shuts down. */
  readonly shutdown?: ShutdownOptions;
}

/** Settings of `QueuelockModule.forRoot`. */
export interface QueuelockModuleOptions extends LockClientSettings {
  /** Name of the client, for applications with several. Default `default`. */
  readonly name?: string;
}

/** Settings of `QueuelockModule.forRootAsync`. */
export interface QueuelockModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** Name of the client, as in `QueuelockModuleOptions`. Default `default`. */
  readonly name?: string;
  /** The tokens of the providers that Nest injects into `useFactory`. */
  readonly inject?: FactoryProvider['inject'];
  /** Returns the settings of the client, or a promise of them. */
  // oxlint-disable-next-line typescript/no-explicit-any -- the parameters are those that `inject` names
  readonly useFactory: (...injected: any[]) => LockClientSettings | Promise<LockClientSettings>;
}

const SETTINGS: KnownOptions<LockClientSettings> = { backend: 'any', client: 'object', shutdown: 'object' };

/**
 * Returns the settings if a client can be created from them.
 * @throws {QueueLockError} `INVALID_ARGUMENT` otherwise
 */
export function checkedSettings(settings: LockClientSettings): LockClientSettings {
  const checked = checkedOptions('options of QueuelockModule', settings, SETTINGS);
  const { backend } = checked as { readonly backend?: unknown };
  if (typeof backend === 'function' || (typeof backend === 'object' && backend !== null)) return checked;
  throw invalidArgument('backend', backend, 'is a backend, or a function that returns one');
}

/** Creates a lock client from its settings. */
export function clientOf({ backend, client }: LockClientSettings): LockClient {
  return createLockClient(typeof backend === 'function' ? backend() : backend, client);
}
