import type { WriteStream } from 'node:tty';
import type { QueueState } from '@queuelock/core';
import type { LineWriter } from '../lines.ts';
import { openScreen } from '../terminal/screen.ts';
import { canDraw } from '../terminal/terminal.ts';
import { closingLines } from './closing.ts';
import { drawFrame } from './frame.ts';
import type { Script } from './director.ts';
import type { HistoryEvent } from './history.ts';
import { inOrder } from './in-order.ts';
import type { Verdict } from './judge.ts';
import { progressLine } from './progress.ts';
import type { Actor, Stage } from './stage.ts';

/** The output of the demo, which shows the events, the queue and the verdict. */
export interface Show {
  readonly onEvent: (event: HistoryEvent) => void;
  readonly onJoin: (actor: Actor) => void;
  readonly onQueue: (state: QueueState) => void;
  /** Shows the verdict and ends the output. `verdict` is `undefined` when the user ended the demo. */
  close(verdict: Verdict | undefined): void;
}

export interface ShowSettings {
  readonly lines: LineWriter;
  readonly stamp: () => string;
  readonly script: Script;
  readonly stage: Stage;
  readonly json: boolean;
}

/**
 * Opens the output of the demo: JSON lines if requested, a live frame on a terminal that can redraw, and
 * otherwise a log.
 */
export function openShow(settings: ShowSettings): Show {
  if (settings.json) return jsonShow(settings);
  settings.lines.write(opening(settings));
  const { stdout } = process;
  return canDraw(stdout) ? liveShow(settings, stdout) : plainShow(settings);
}

function opening({ script, stage }: ShowSettings): string {
  const { contenders, rounds } = script;
  const times = rounds === 1 ? '1 round' : `${String(rounds)} rounds each`;
  return `queuelock demo: ${String(contenders)} contenders, ${times}, on ${stage.storeLabel}`;
}

function jsonShow({ lines, stamp }: ShowSettings): Show {
  const events = inOrder((event: HistoryEvent) => {
    lines.write(JSON.stringify(event));
  });
  return {
    onEvent: events.add,
    onJoin: () => undefined,
    onQueue: () => undefined,
    close: (verdict) => {
      events.flush();
      if (verdict) lines.write(JSON.stringify({ t: stamp(), ev: 'verdict', ...verdict }));
    },
  };
}

function plainShow(settings: ShowSettings): Show {
  const start = settings.stamp();
  const events = inOrder((event: HistoryEvent) => {
    const line = progressLine(event, start);
    if (line !== undefined) settings.lines.write(line);
  });
  return {
    onEvent: events.add,
    onJoin: () => undefined,
    onQueue: () => undefined,
    close: (verdict) => {
      events.flush();
      printVerdict(settings, verdict);
    },
  };
}

function liveShow(settings: ShowSettings, terminal: WriteStream): Show {
  const { script, stamp } = settings;
  const start = stamp();
  const history: HistoryEvent[] = [];
  const actors = new Map<string, Actor>();
  let queue: QueueState = { status: 'connecting', name: script.name, entries: [] };
  const screen = openScreen(terminal, (paper, over) => {
    const provenUntil = (id: string): string | undefined => actors.get(id)?.provenUntil;
    const { contenders } = script;
    return drawFrame({ queue, history, contenders, start, now: stamp(), provenUntil, over }, paper);
  });
  return {
    onEvent: (event) => history.push(event),
    onJoin: (actor) => actors.set(actor.id, actor),
    onQueue: (state) => {
      queue = state;
    },
    close: (verdict) => {
      screen.close();
      printVerdict(settings, verdict);
    },
  };
}

function printVerdict({ lines, stage }: ShowSettings, verdict: Verdict | undefined): void {
  const closing = verdict
    ? closingLines(verdict, stage.storeLabel)
    : ['stopped before the end, so there is no verdict'];
  for (const line of closing) lines.write(line);
}
