// Folder "base": contains general-purpose tools that are independent of Redis.
// noted.ts (this file) calls a listener at most once. rx.ts exports the names that are imported from RxJS.

/**
 * Wraps a listener so that it receives only the first error. A client library may report the end of a
 * connection several times.
 */
export function noted(listener: (error: unknown) => void): (error: unknown) => void {
  let wasCalled = false;
  return (error) => {
    if (wasCalled) return;
    wasCalled = true;
    listener(error);
  };
}
