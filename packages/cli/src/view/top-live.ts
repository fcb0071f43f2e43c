import { performance } from 'node:perf_hooks';
import type { ReadStream, WriteStream } from 'node:tty';
import { openFullScreen, type FullScreen } from './full-screen.ts';
import type { Listing } from './top-batch.ts';
import { TopModel } from './top-model.ts';

/** Prefix of the queue names in a live view, and its terminal and keyboard. */
export interface LiveSettings {
  readonly prefix: string;
  readonly terminal: WriteStream;
  readonly keyboard: ReadStream;
}

// Interval in milliseconds at which the view is redrawn, because the durations that it shows grow without any
// event.
const REDRAWN_MS = 500;

/** Shows the queues until the user quits, the command is stopped, or the terminal is closed. */
export async function runLive(
  { list, client, backend, stop }: Listing,
  { prefix, terminal, keyboard }: LiveSettings,
): Promise<void> {
  let screen: FullScreen | undefined;
  const source = {
    list,
    client,
    prefix,
    storeLabel: backend.info.endpoint,
    monotonic: () => performance.now(),
    wallTime: () => Date.now(),
  };
  const model = new TopModel(source, () => screen?.redraw());
  const timer = setInterval(() => screen?.redraw(), REDRAWN_MS);
  try {
    await new Promise<void>((resolve) => {
      stop.signal.addEventListener('abort', () => {
        resolve();
      });
      for (const stream of [terminal, keyboard]) stream.once('error', resolve);
      keyboard.once('end', resolve);
      screen = openFullScreen({
        input: keyboard,
        output: terminal,
        lines: (paper) => model.lines(paper),
        onKey: (key, paper) => {
          if (model.press(key, paper) === 'quit') resolve();
        },
      });
    });
  } finally {
    clearInterval(timer);
    model.close();
    screen?.close();
  }
}
