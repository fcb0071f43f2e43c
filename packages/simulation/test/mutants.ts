import type { StoreName } from '../src/run/plan.ts';
import type { Mutant } from './mutant.ts';
import { ENDS } from './mutants/ends.ts';
import { ENTERING } from './mutants/entering.ts';
import { HANDING_OVER } from './mutants/handing-over.ts';
import { LIVENESS } from './mutants/liveness.ts';
import { POSITIONS } from './mutants/positions.ts';
import { OF_RECIPES } from './mutants/recipes.ts';
import { SINGLE_KEYS } from './mutants/single-keys.ts';
import { STORMS } from './mutants/storms.ts';
import { VIEWS } from './mutants/views.ts';
import { WATCHING } from './mutants/watching.ts';
import { ON_ZOOKEEPER } from './mutants/zookeeper.ts';

export const MUTANTS: Readonly<Record<StoreName, readonly Mutant[]>> = {
  etcd: [
    ...[...LIVENESS, ...POSITIONS, ...ENTERING, ...SINGLE_KEYS, ...WATCHING, ...VIEWS, ...ENDS, ...STORMS],
    ...[...HANDING_OVER, ...OF_RECIPES],
  ],
  zookeeper: ON_ZOOKEEPER,
};
