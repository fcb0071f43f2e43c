/** Gives something back or closes it, and reports a failure to do so to the listener: timers and events have no caller that could catch it. */
export function closing(close: () => void, onFailure: (error: unknown) => void): () => void {
  return () => {
    try {
      close();
    } catch (error) {
      onFailure(error);
    }
  };
}
