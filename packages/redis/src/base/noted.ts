// Chapter base: which tools know nothing of Redis?
// Helpers for listeners and for closing (here), and the names that are imported from RxJS (rx).

/** Wraps a listener so that only the first call reaches it. */
export function noted(listener: (error: unknown) => void): (error: unknown) => void {
  let told = false;
  return (error) => {
    if (told) return;
    told = true;
    listener(error);
  };
}

/** Wraps `close` so that it never throws. A failure is passed to `onFailure`, since an abort event has no caller that could catch it. */
export function closing(close: () => void, onFailure: (error: unknown) => void): () => void {
  return () => {
    try {
      close();
    } catch (error) {
      onFailure(error);
    }
  };
}
