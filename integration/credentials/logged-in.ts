// Creates backends in processes other than that of the test. The test passes data to such a process, but
// cannot pass functions.

import type { Backend } from '@queuelock/core';
import { connect, type Account, type LoginStore } from './passwords.ts';

/** Creates a backend whose option `auth` is a function that returns the given name and password. */
export function loggedIn({
  account,
  ...store
}: LoginStore & { readonly account: Account }): Promise<Backend> {
  return connect(store, async () => account);
}
