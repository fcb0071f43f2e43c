/**
 * The controller's own signal, made to run `check` before it answers whether it is aborted. A deadline that has passed is
 * noticed by whoever looks, without waiting for a timer that is late; the `abort` event comes before the answer.
 * `check` aborts the controller if need be.
 */
export function checkedSignal(controller: AbortController, check: () => unknown): AbortSignal {
  const { signal } = controller;
  const answer = (property: 'aborted' | 'reason'): unknown => {
    check();
    return Reflect.get(AbortSignal.prototype, property, signal);
  };
  return Object.defineProperties(signal, {
    aborted: { get: () => answer('aborted') },
    reason: { get: () => answer('reason') },
    throwIfAborted: {
      value: () => {
        check();
        AbortSignal.prototype.throwIfAborted.call(signal);
      },
    },
  });
}
