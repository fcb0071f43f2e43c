/** The promise; rejects when it takes longer than so many milliseconds. */
export async function within<T>(ms: number, promise: Promise<T>, what = 'it'): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}
