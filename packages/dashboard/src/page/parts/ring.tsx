import type { StuckSnapshot } from '@queuelock/bridge/wire';
import { useId, type ReactElement } from 'react';
import { arrowsOf, ringOf } from '../model/ring.ts';
import { plain, short } from '../model/text.ts';

const RADIUS = 100;
const HALF = { across: 52, down: 15 };
// Half the width and height of the space around a node of the drawing in which no arrow is drawn. It is a
// little larger than the node's text.
const ROOM = { across: HALF.across + 5, down: HALF.down + 5 };
const MAX_NODES = 12;

/**
 * Draws a cycle of waits, in which each entry waits for the next one. The first entry is the victim: its
 * client should give up to break the cycle.
 */
export function Ring({ circle }: { readonly circle: readonly StuckSnapshot[] }): ReactElement {
  const id = useId();
  const shown = circle.slice(0, MAX_NODES);
  const nodes = ringOf(shown.length, RADIUS);
  return (
    <svg className="ring" viewBox="-225 -140 450 280" role="img" aria-labelledby={`${id}title`}>
      <title id={`${id}title`}>
        {shown
          .map(({ entry, waitsFor }) => `${plain(entry.owner)} waits for ${plain(waitsFor.owner)}`)
          .join(', ')}
      </title>
      <defs>
        <marker
          id={`${id}arrow`}
          viewBox="0 0 8 8"
          refX="6"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto"
        >
          <path d="M0 0.5 7 4 0 7.5Z" />
        </marker>
      </defs>
      {arrowsOf(shown.length, RADIUS, ROOM).map(({ from, to, middle }, node) => (
        <g key={node} className="arrow">
          <path
            d={`M${from.x} ${from.y}A${RADIUS} ${RADIUS} 0 0 1 ${to.x} ${to.y}`}
            markerEnd={`url(#${id}arrow)`}
          />
          <text x={middle.x * 1.16} y={middle.y * 1.16 + 4} textAnchor={anchorOf(middle.x)}>
            {short(plain(shown[node]?.name ?? ''), 18)}
          </text>
        </g>
      ))}
      {nodes.map(({ x, y }, node) => (
        <g key={node} className="party" data-first={node === 0} transform={`translate(${x} ${y})`}>
          <rect
            x={-HALF.across}
            y={-HALF.down}
            width={2 * HALF.across}
            height={2 * HALF.down}
            rx={HALF.down}
          />
          <text y={5}>{short(plain(shown[node]?.entry.owner ?? ''), 14)}</text>
        </g>
      ))}
    </svg>
  );
}

function anchorOf(x: number): 'start' | 'middle' | 'end' {
  if (Math.abs(x) < RADIUS / 4) return 'middle';
  return x > 0 ? 'start' : 'end';
}
