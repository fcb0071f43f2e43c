/** As `setTimeout`, but lets answers that came while the event loop was blocked go first. */
export function afterQuietLoop(ms: number, task: () => void): () => void {
  let immediate: NodeJS.Immediate | undefined;
  const timer = setTimeout(() => {
    immediate = setImmediate(() => {
      immediate = setImmediate(task);
    });
  }, ms);
  return () => {
    clearTimeout(timer);
    clearImmediate(immediate);
  };
}
