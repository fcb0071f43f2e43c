// Chapter base: which tools know nothing of Redis?
// A call that is made once, whatever comes, and a close that never throws (here); the vocabulary of streams (rx).

/** Calls the listener once, whatever else comes. */
export function noted(listener: (error: unknown) => void): (error: unknown) => void {
  let told = false;
  return (error) => {
    if (told) return;
    told = true;
    listener(error);
  };
}

/** Closes something, and reports a failure to do so to the listener: an abort event has no caller that could catch it. */
export function closing(close: () => void, onFailure: (error: unknown) => void): () => void {
  return () => {
    try {
      close();
    } catch (error) {
      onFailure(error);
    }
  };
}
