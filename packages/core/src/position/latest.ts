import type { PositionedClaimState } from '../api/position-api.ts';
import type { Observable } from '../base/rx.ts';

/** What a loop has not seen yet. */
interface Unseen {
  state?: PositionedClaimState | undefined;
  isOver: boolean;
}

/**
 * The states of a line for a loop: whoever is slow gets the latest. The end of the loop, however it comes, leaves the line, or releases and
 * waits until the server has confirmed that.
 */
export async function* latestOf(
  line$: Observable<PositionedClaimState>,
): AsyncGenerator<PositionedClaimState, undefined> {
  const unseen: Unseen = { isOver: false };
  let last: PositionedClaimState | undefined;
  let wake = (): void => undefined;
  const end = (): void => {
    unseen.isOver = true;
    wake();
  };
  const line = line$.subscribe({
    next: (state) => {
      unseen.state = last = state;
      wake();
    },
    error: end,
    complete: end,
  });
  try {
    for (;;) {
      const { state, isOver } = unseen;
      unseen.state = undefined;
      if (state) yield state;
      else if (isOver) return undefined;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    if (last && 'ownership' in last) await last.ownership.release();
    line.unsubscribe();
  }
}
