import { Inject } from '@nestjs/common';

/** Name of a client whose settings contain no name. */
export const DEFAULT_CLIENT = 'default';

/**
 * Returns the injection token of a lock client, for `app.get` and for factories.
 * @param name of the client, as in `QueuelockModule.forRoot`. Default `default`
 * @example
 * const locks = app.get<LockClient>(getLockClientToken());
 */
export function getLockClientToken(name: string = DEFAULT_CLIENT): symbol {
  return Symbol.for(`queuelock.client.${name}`);
}

/** The injection token of the options of a client. */
export function optionsToken(name: string): symbol {
  return Symbol.for(`queuelock.options.${name}`);
}

/**
 * Returns the injection token of the provider that adds a lock client to the lock runtime, in which
 * decorators find it.
 */
export function registrationToken(name: string): symbol {
  return Symbol.for(`queuelock.registration.${name}`);
}

/**
 * Injects a lock client into a constructor parameter or a property.
 * @param name of the client, as in `QueuelockModule.forRoot`. Default `default`
 * @example
 * constructor(@InjectLocks() private readonly locks: LockClient) {}
 */
export function InjectLocks(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getLockClientToken(name));
}
