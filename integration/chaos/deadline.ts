import { livedSince } from '@queuelock/harness/lived-time';

/**
 * Resolves with the result of the promise. Rejects when the promise takes longer than `ms` milliseconds to
 * settle, not counting time in which the machine stalled.
 */
export async function within<T>(ms: number, promise: Promise<T>, what = 'it'): Promise<T> {
  const from = performance.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const read = (): void => {
      const leftMs = ms - livedSince(from);
      if (leftMs > 0) timer = setTimeout(read, leftMs);
      else reject(new Error(`${what}: not within ${ms} ms`));
    };
    read();
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
