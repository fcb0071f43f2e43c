import type { LineState } from './line-api.ts';
import type { Observable } from './rx.ts';

/**
 * The states of a line for a loop: whoever is slow gets the latest. The end of the loop, however it comes, leaves the line, or releases and
 * waits until the server has confirmed that.
 */
export async function* latestOf(line$: Observable<LineState>): AsyncGenerator<LineState, undefined> {
  let latest: LineState | undefined;
  let last: LineState | undefined;
  let isOver = false;
  let wake = (): void => undefined;
  const line = line$.subscribe({
    next: (state) => {
      latest = last = state;
      wake();
    },
    complete: () => {
      isOver = true;
      wake();
    },
  });
  try {
    for (;;) {
      const state = latest;
      latest = undefined;
      if (state) yield state;
      else if (isOver) return undefined;
      else await new Promise<void>((resolve) => (wake = resolve));
    }
  } finally {
    if (last && 'ownership' in last) await last.ownership.release();
    line.unsubscribe();
  }
}
