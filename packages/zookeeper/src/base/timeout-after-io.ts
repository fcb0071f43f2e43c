/** Works as `setTimeout`, but if the event loop was blocked, first handles replies that arrived meanwhile. */
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
