// The folder base answers: which tools are independent of Redis?
// A listener that is called at most once (this file), and the names that are imported from RxJS (rx.ts).

/** Wraps a listener so that only the first call reaches it. */
export function noted(listener: (error: unknown) => void): (error: unknown) => void {
  let wasCalled = false;
  return (error) => {
    if (wasCalled) return;
    wasCalled = true;
    listener(error);
  };
}
