/** Works as `setTimeout`, but first handles replies that arrived while the event loop was blocked. */
export function setTimeoutAfterIo(ms: number, task: () => void): () => void {
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
