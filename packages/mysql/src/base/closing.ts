/** Wraps `close` so that it never throws. A failure is passed to `onFailure`, since timers and events have no caller that could catch it. */
export function closing(close: () => void, onFailure: (error: unknown) => void): () => void {
  return () => {
    try {
      close();
    } catch (error) {
      onFailure(error);
    }
  };
}
