import type { Mistake } from './mistake.ts';
import { ENDS } from './mistakes/ends.ts';
import { ENTERING } from './mistakes/entering.ts';
import { LIVENESS } from './mistakes/liveness.ts';
import { PLACES } from './mistakes/places.ts';
import { SINGLE_KEYS } from './mistakes/single-keys.ts';
import { STORMS } from './mistakes/storms.ts';
import { VIEWS } from './mistakes/views.ts';
import { WATCHING } from './mistakes/watching.ts';

export const MISTAKES: readonly Mistake[] = [
  ...LIVENESS,
  ...PLACES,
  ...ENTERING,
  ...SINGLE_KEYS,
  ...WATCHING,
  ...VIEWS,
  ...ENDS,
  ...STORMS,
];
