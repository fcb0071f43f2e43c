import type { PositionedClaimState } from '../api/position-api.ts';
import type { Observable } from '../base/rx.ts';

/** The latest state that the consumer's `for await` loop has not received yet. */
interface Unseen {
  state?: PositionedClaimState | undefined;
  isOver: boolean;
}

/**
 * Iterates over the states of a position stream. A slow loop receives only the latest state. When the loop ends for any reason, it leaves the
 * queue, or releases and waits until the server has confirmed that.
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
