/** Time that is moved by hand. */
export function standingClock() {
  let now = 0;
  const timers = new Map<() => void, number>();
  return {
    now: () => now,
    after(ms: number, task: () => void): () => void {
      timers.set(task, now + ms);
      return () => void timers.delete(task);
    },
    /** What the looks that it sets off come to is there afterwards. */
    async advance(ms: number): Promise<void> {
      now += ms;
      for (const [task, at] of timers) if (at <= now && timers.delete(task)) task();
      for (let turn = 0; turn < 8; turn += 1) await Promise.resolve();
    },
  };
}
