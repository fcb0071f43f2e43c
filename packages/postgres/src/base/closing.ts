/** Wraps `close` so that it never throws. A failure is passed to `onFailure`, since an event has no caller that could catch it. */
export function closing(
  close: (broken: boolean) => void,
  onFailure: (error: unknown) => void,
): (broken: boolean) => void {
  return (broken) => {
    try {
      close(broken);
    } catch (error) {
      onFailure(error);
    }
  };
}
