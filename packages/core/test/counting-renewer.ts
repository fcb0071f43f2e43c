import type { OpenRenewer, RenewerData } from '../src/backend.ts';

/**
 * Data of a fake renewer for the heartbeat thread, without a store. Each heartbeat proves the session for a fixed time. After `failAfter` heartbeats,
 * all further ones fail.
 */
export interface CountingRenewerData {
  readonly provenMs: number;
  readonly failAfter: number;
}

/** Options of the fake renewer. */
export interface CountingRenewerOptions {
  readonly key?: Buffer;
  /** Called before each heartbeat. */
  readonly auth?: () => unknown;
}

export const openRenewer: OpenRenewer = (data) => {
  const { options, session } = data as RenewerData<CountingRenewerOptions, CountingRenewerData>;
  const { provenMs, failAfter } = session;
  let count = 0;
  return {
    renew: async () => {
      count += 1;
      if (count > failAfter) throw new Error('the store does not answer');
      const login = await options.auth?.();
      if (login !== undefined) throw new Error(`logged in as ${inspectLogin(login, options.key)}`);
      return provenMs;
    },
    close: async () => undefined,
  };
};

function inspectLogin(login: unknown, key: unknown): string {
  const { pem } = login as { readonly pem?: unknown };
  return `${JSON.stringify(login)}, with buffers: ${[pem, key].map((each) => Buffer.isBuffer(each)).join()}`;
}
