import { BACKEND_DEFECTS } from './defects/backend.ts';
import { BEGINNING_DEFECTS } from './defects/beginning.ts';
import { CLOSING_DEFECTS } from './defects/closing.ts';
import type { Defect } from './defects/defect.ts';
import { HOLDING_DEFECTS } from './defects/holding.ts';
import { JOINING_DEFECTS } from './defects/joining.ts';
import { LIVENESS_DEFECTS } from './defects/liveness.ts';
import { WAITING_DEFECTS } from './defects/waiting.ts';

/** All seeded defects of the core and of a backend. The rules of judge.ts must detect each of them. */
export const DEFECTS: readonly Defect[] = [
  ...LIVENESS_DEFECTS,
  ...JOINING_DEFECTS,
  ...WAITING_DEFECTS,
  ...BEGINNING_DEFECTS,
  ...HOLDING_DEFECTS,
  ...CLOSING_DEFECTS,
  ...BACKEND_DEFECTS,
];
