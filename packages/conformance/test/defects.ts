import type { Defects } from './defective.ts';
import { backendEvictionDefects } from './defects/backend-eviction.ts';
import { downgradeDefects } from './defects/downgrade.ts';
import { livenessDefects } from './defects/liveness.ts';
import { observingDefects } from './defects/looking.ts';
import { nameDefects } from './defects/names.ts';
import { permitDefects } from './defects/permits.ts';
import { placeDefects } from './defects/places.ts';
import { queueListDefects } from './defects/queue-list.ts';
import { registerDefects } from './defects/registers.ts';
import { removalDefects } from './defects/removal.ts';
import { resumptionDefects } from './defects/resuming.ts';
import { sameEntryDefects } from './defects/same-entry.ts';
import { sharingDefects } from './defects/sharing.ts';
import { togetherDefects } from './defects/together.ts';
import { traceDefects } from './defects/traces.ts';

/** All seeded defects, which the suite must detect. */
export const defects: Defects = [
  ...placeDefects,
  ...removalDefects,
  ...sharingDefects,
  ...permitDefects,
  ...observingDefects,
  ...livenessDefects,
  ...backendEvictionDefects,
  ...traceDefects,
  ...togetherDefects,
  ...downgradeDefects,
  ...registerDefects,
  ...resumptionDefects,
  ...sameEntryDefects,
  ...queueListDefects,
  ...nameDefects,
];
