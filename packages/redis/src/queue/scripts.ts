import { entryScripts } from '../lua/entry-scripts.ts';
import type { Script } from '../lua/script.ts';
import { sessionScripts } from '../lua/session-scripts.ts';
import { storeScripts } from '../lua/store-scripts.ts';

type Name = keyof typeof sessionScripts | keyof typeof entryScripts | keyof typeof storeScripts;

/** All steps on the store, by name. */
export const SCRIPTS: Readonly<Record<Name, Script>> = {
  ...sessionScripts,
  ...entryScripts,
  ...storeScripts,
};
