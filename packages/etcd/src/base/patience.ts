const PARTS = 4;

/**
 * As `setTimeout`, but a blocked event loop costs a quarter of the time at most: what has not been sent yet, or has come and was not
 * read, gets the other three.
 */
export function afterPatience(ms: number, task: () => void): () => void {
  let left = PARTS;
  const wait = (): NodeJS.Timeout => setTimeout(next, ms / PARTS);
  const next = (): void => {
    left -= 1;
    if (left === 0) task();
    else timer = wait();
  };
  let timer = wait();
  return () => {
    clearTimeout(timer);
  };
}
