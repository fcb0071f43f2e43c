/** Runs `work`, and resolves with the exceptions and rejections that no code has caught. */
export async function catchingAll(work: () => Promise<void>): Promise<readonly string[]> {
  const found: string[] = [];
  const note = (error: unknown): void => {
    found.push(error instanceof Error ? String(error.stack) : String(error));
  };
  const events = ['uncaughtException', 'unhandledRejection'] as const;
  const before = events.map((event) => [event, process.rawListeners(event)] as const);
  for (const event of events) process.removeAllListeners(event).on(event, note);
  try {
    await work();
    // Waits for 20 ms. Node reports an unhandled rejection only after the pending promise jobs, and runs
    // timers only in a later round of the event loop.
    await new Promise((resolve) => setTimeout(resolve, 20));
  } finally {
    for (const [event, listeners] of before) {
      process.removeAllListeners(event);
      for (const listener of listeners) process.on(event, listener as () => void);
    }
  }
  return found;
}
