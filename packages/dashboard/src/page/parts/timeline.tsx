import type { TimelineSnapshot } from '@queuelock/bridge/wire';
import { useId, useLayoutEffect, useRef, useState, type ReactElement } from 'react';
import { useMedia, usePaceMs } from '../hooks/media.ts';
import { useNow } from '../hooks/now.ts';
import { counted, timeOfDay } from '../model/text.ts';
import { drawingOf, pulseOf, type Drawing } from '../model/timeline.ts';
import { Stay } from './stay.tsx';

const LANE_PX = 24;
const AXIS_PX = 26;
const PULSE_PX = 34;
const PULSE_PARTS = 60;

const WINDOWS = [
  ['1 min', 60_000],
  ['5 min', 300_000],
  ['30 min', 1_800_000],
] as const;

export interface TimelineProps {
  readonly snapshot: TimelineSnapshot;
  /** Whether the timeline moves with the time. It does not while the data is outdated. */
  readonly isRunning: boolean;
  /** Id of the entry by which the user of the page has joined the queue. */
  readonly ownId: string | undefined;
}

/** Draws recent waits and holds, one row for each entry. A fair queue appears as a staircase. */
export function Timeline({ snapshot, isRunning, ownId }: TimelineProps): ReactElement {
  const [windowMs, setWindowMs] = useState<number>(WINDOWS[0][1]);
  const isNarrow = useMedia('(max-width: 720px)');
  // Updates the drawing of the timeline only after it has moved by at least one pixel.
  const { bridge: now } = useNow(Math.max(usePaceMs(), windowMs / 600), isRunning);
  const frame = { now, windowMs, lanes: isNarrow ? 10 : 14 };
  const drawing = drawingOf(snapshot, frame);
  return (
    <section className="sheet timeline" aria-labelledby="timeline-title">
      <header className="sheet-head">
        <h2 id="timeline-title">Holds and waits</h2>
        <Legend />
        <div className="choice" role="group" aria-label="Time shown">
          {WINDOWS.map(([title, ms]) => (
            <button
              key={ms}
              type="button"
              aria-pressed={ms === windowMs}
              onClick={() => {
                setWindowMs(ms);
              }}
            >
              {title}
            </button>
          ))}
        </div>
      </header>
      <Chart drawing={drawing} pulse={pulseOf(snapshot.spans, frame, PULSE_PARTS)} now={now} ownId={ownId} />
      {drawing.omitted > 0 && <p className="foot">{counted(drawing.omitted, 'more stay')} not drawn</p>}
    </section>
  );
}

function Legend(): ReactElement {
  return (
    <ul className="legend" aria-label="Legend">
      <li data-kind="wait">waits</li>
      <li data-kind="hold">holds</li>
      <li data-kind="evicted">evicted</li>
      <li data-kind="gap">not readable</li>
    </ul>
  );
}

interface ChartProps {
  readonly drawing: Drawing;
  readonly pulse: readonly number[];
  readonly now: number;
  readonly ownId: string | undefined;
}

function Chart({ drawing, pulse, now, ownId }: ChartProps): ReactElement {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const title = useId();
  const { lanes, ticks, gaps, handOffs } = drawing;
  const top = PULSE_PX;
  const bottom = top + Math.max(3, lanes.length) * LANE_PX;
  const x = (part: number): number => Math.round(part * width * 10) / 10;
  const middle = (lane: number): number => top + lane * LANE_PX + LANE_PX / 2;
  return (
    <div ref={box} className="chart">
      <svg width={width} height={bottom + AXIS_PX} role="img" aria-labelledby={title}>
        <title id={title}>{drawingText(drawing)}</title>
        <Pulse counts={pulse} width={width} />
        {gaps.map(({ from, to }) => (
          <rect
            key={from}
            className="gap"
            x={x(from)}
            y={top}
            width={x(to) - x(from)}
            height={bottom - top}
          />
        ))}
        {ticks.map(({ at, time }) => (
          <g key={time} className="tick">
            <line x1={x(at)} x2={x(at)} y1={top} y2={bottom} />
            <text x={Math.min(Math.max(x(at), 26), width - 26)} y={bottom + 18}>
              {timeOfDay(time)}
            </text>
          </g>
        ))}
        {handOffs.map(({ at, fromLane, toLane }) => (
          <line
            key={toLane}
            className="hand-off"
            x1={x(at)}
            x2={x(at)}
            y1={middle(fromLane)}
            y2={middle(toLane)}
          />
        ))}
        {lanes.map((lane, place) => (
          <Stay
            key={lane.id}
            lane={lane}
            isOwn={ownId !== undefined && lane.span.id === ownId}
            y={middle(place)}
            x={x}
            now={now}
            width={width}
          />
        ))}
        {lanes.length === 0 && (
          <text className="nothing" x={width / 2} y={(top + bottom) / 2}>
            The queue was empty in this time
          </text>
        )}
      </svg>
    </div>
  );
}

function Pulse({
  counts,
  width,
}: {
  readonly counts: readonly number[];
  readonly width: number;
}): ReactElement {
  // A bar of full height means at least 4 hand-offs. So a bar for one or two hand-offs is never drawn at full
  // height.
  const max = Math.max(4, ...counts);
  const step = width / counts.length;
  return (
    <g className="pulse">
      <text x={6} y={13}>
        hand-offs
      </text>
      {counts.map((ended, part) => {
        const height = (ended / max) * (PULSE_PX - 12);
        return (
          ended > 0 && (
            <rect
              key={part}
              x={part * step + 1}
              y={PULSE_PX - 6 - height}
              width={Math.max(1, step - 2)}
              height={height}
              rx={1}
            />
          )
        );
      })}
    </g>
  );
}

function drawingText({ lanes, handOffs }: Drawing): string {
  const present = lanes.filter(({ isPresent }) => isPresent).length;
  return `Timeline: ${counted(lanes.length, 'stay')}, ${present} still in the queue, ${counted(handOffs.length, 'hand-off')}`;
}

function useWidth(element: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(640);
  useLayoutEffect(() => {
    const measure = (): void => {
      const { clientWidth = 0 } = element.current ?? {};
      if (clientWidth > 0) setWidth(clientWidth);
    };
    measure();
    const observer = new ResizeObserver(measure);
    if (element.current) observer.observe(element.current);
    return () => {
      observer.disconnect();
    };
  }, [element]);
  return width;
}
