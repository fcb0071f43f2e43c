import type { ReactElement } from 'react';
import { duration, plain, short } from '../model/text.ts';
import type { Lane } from '../model/timeline.ts';

export interface StayProps {
  readonly lane: Lane;
  readonly isOwn: boolean;
  readonly y: number;
  readonly x: (part: number) => number;
  readonly now: number;
  readonly width: number;
}

/** Draws the stay of one entry in a queue: a line for the wait, a bar for the hold, and the owner. */
export function Stay({
  lane: { span, wait, hold, isPresent },
  isOwn,
  y,
  x,
  now,
  width,
}: StayProps): ReactElement {
  const begin = wait?.from ?? hold?.from ?? 0;
  const end = hold?.to ?? wait?.to ?? begin;
  const label = plain(span.owner) || '-';
  // Draws the owner's name to the left of the bar if there is room, else to the right of the bar, else inside
  // of it.
  const isBefore = x(begin) > 96;
  const isAfter = !isBefore && width - x(end) > 96;
  const labelX = isBefore ? x(begin) - 6 : isAfter ? x(end) + 6 : x(begin) + 8;
  return (
    <g className="stay" data-own={isOwn} data-present={isPresent} data-evicted={span.evicted !== undefined}>
      <title>{stayText(span, now)}</title>
      {wait && <line className="wait" x1={x(wait.from)} x2={x(wait.to)} y1={y} y2={y} />}
      {hold && (
        <rect
          className="hold"
          x={x(hold.from)}
          y={y - 6}
          width={Math.max(2, x(hold.to) - x(hold.from))}
          height={12}
          rx={3}
        />
      )}
      {span.evicted && <path className="evicted" d={`M${x(end) - 4} ${y - 4}l8 8m0 -8l-8 8`} />}
      <text
        className="owner"
        data-inside={!isBefore && !isAfter}
        x={labelX}
        y={y + 4}
        textAnchor={isBefore ? 'end' : 'start'}
      >
        {short(label, 16)}
      </text>
    </g>
  );
}

function stayText(
  { owner, joinedAt, joinedEarlier, heldAt, leftAt, evicted }: Lane['span'],
  now: number,
): string {
  const earlier = joinedEarlier ? 'at least ' : '';
  const waited = `waited ${earlier}${duration((heldAt ?? leftAt ?? now) - joinedAt)}`;
  const held = heldAt === undefined ? '' : `, held ${duration((leftAt ?? now) - heldAt)}`;
  const end = evicted
    ? `, ${evicted.kind} by ${evicted.by}: ${evicted.reason}`
    : leftAt === undefined
      ? ', still in the queue'
      : '';
  return plain(`${owner}: ${waited}${held}${end}`);
}
