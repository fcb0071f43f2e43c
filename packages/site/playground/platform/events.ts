/** Replaces Node's `setMaxListeners`. Does nothing, since browsers do not warn of many listeners. */
export const setMaxListeners = (): void => undefined;
