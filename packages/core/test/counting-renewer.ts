import type { OpenRenewer } from '../src/backend.ts';

/**
 * A fake `Renewer`, which sends the heartbeats of the heartbeat thread, without a store. Each heartbeat proves the session for a fixed time. After
 * `failAfter` heartbeats, all further ones fail.
 */
export interface CountingRenewerData {
  readonly provenMs: number;
  readonly failAfter: number;
}

export const openRenewer: OpenRenewer = (data) => {
  const { provenMs, failAfter } = data as CountingRenewerData;
  let count = 0;
  return {
    renew: async () => {
      count += 1;
      if (count > failAfter) throw new Error('the store does not answer');
      return provenMs;
    },
    close: async () => undefined,
  };
};
