import type { OpenRenewer } from '../src/backend.ts';

/** A renewer without a store, for the heartbeat thread: each heartbeat proves this many milliseconds. Those after `failAfter` heartbeats fail. */
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
