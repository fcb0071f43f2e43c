// Creates backends in processes that have no access to the functions of the test.

import type { Backend } from '@queuelock/core';
import { connect, type Account, type LoginStore } from './passwords.ts';

/** Creates a backend whose option `auth` is a function that returns the account. */
export function loggedIn({
  account,
  ...store
}: LoginStore & { readonly account: Account }): Promise<Backend> {
  return connect(store, async () => account);
}
