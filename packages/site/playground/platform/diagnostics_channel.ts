/** Replaces all of Node's diagnostics channels by one that never has subscribers. */
const silent = { hasSubscribers: false, publish: (): void => undefined };

export const channel = (): typeof silent => silent;
export const tracingChannel = (): Record<string, unknown> => ({
  hasSubscribers: false,
  start: silent,
  end: silent,
});
