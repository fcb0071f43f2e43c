/** Gives something back, and reports a failure to do so to the listener: events have no caller that could catch it. */
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
