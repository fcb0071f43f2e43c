import type { Cell } from '../src/cells.ts';
import type { Values } from '../src/measure.ts';
import { Results } from '../src/results.ts';

const CLIENTS = {
  ours: { name: 'queuelock, t', kind: 'ours', transport: 't' },
  floor: { name: 'floor, t', kind: 'floor', transport: 't' },
  Go: { name: 'Go concurrency.Mutex', kind: 'peer', transport: 'Go' },
} as const;

/** Builds results of one cell (one scenario at one size on one kind of server), round by round. */
export function measured(
  cell: Cell,
  rounds: Readonly<Partial<Record<keyof typeof CLIENTS, readonly Values[]>>>,
): Results {
  const results = new Results();
  for (const [who, all] of Object.entries(rounds))
    for (const values of all) results.add(cell, CLIENTS[who as keyof typeof CLIENTS], values);
  return results;
}
