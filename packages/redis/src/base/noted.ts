// Chapter base: which tools know nothing of Redis?
// A call that is made once, whatever comes (here); the vocabulary of streams (rx).

/** Calls the listener once, whatever else comes. */
export function noted(listener: (error: unknown) => void): (error: unknown) => void {
  let told = false;
  return (error) => {
    if (told) return;
    told = true;
    listener(error);
  };
}
