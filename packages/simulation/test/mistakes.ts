import type { StoreName } from '../src/run/plan.ts';
import type { Mistake } from './mistake.ts';
import { ENDS } from './mistakes/ends.ts';
import { ENTERING } from './mistakes/entering.ts';
import { HANDING_OVER } from './mistakes/handing-over.ts';
import { LIVENESS } from './mistakes/liveness.ts';
import { PLACES } from './mistakes/places.ts';
import { OF_RECIPES } from './mistakes/recipes.ts';
import { SINGLE_KEYS } from './mistakes/single-keys.ts';
import { STORMS } from './mistakes/storms.ts';
import { VIEWS } from './mistakes/views.ts';
import { WATCHING } from './mistakes/watching.ts';
import { ON_ZOOKEEPER } from './mistakes/zookeeper.ts';

export const MISTAKES: Readonly<Record<StoreName, readonly Mistake[]>> = {
  etcd: [
    ...[...LIVENESS, ...PLACES, ...ENTERING, ...SINGLE_KEYS, ...WATCHING, ...VIEWS, ...ENDS, ...STORMS],
    ...[...HANDING_OVER, ...OF_RECIPES],
  ],
  zookeeper: ON_ZOOKEEPER,
};
