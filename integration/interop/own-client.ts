import type { CommandLine } from './programs.ts';
import { ours, type Kind } from './kinds.ts';
import { alike, amongOurs, twice } from './parties.ts';
import type { Rows } from './row.ts';

/** A client that the caller of the suite brings along. */
export interface OwnClient {
  readonly command: CommandLine;
  /** The third argument of its program. */
  readonly recipe: string;
  /** Whether it continues after a loss, because its library does not notify it. */
  readonly isDeaf: boolean;
}

/** Returns the combinations of a client with itself and with queuelock. */
export function rowsOf({ command, recipe, isDeaf }: OwnClient): Rows {
  const kind: Kind = {
    title: `client ${recipe}`,
    language: 'Node',
    command,
    recipe,
    ...(isDeaf ? { deaf: true } : {}),
  };
  return {
    mixes: [
      { title: 'the client alone, three times', parties: [{ kind, count: 3 }] },
      { title: 'the client and ours, two of each', parties: twice(kind, ours) },
      amongOurs(kind),
    ],
    lines: [{ title: 'the client and ours', pairs: alike(kind, ours), last: ours }],
    elections: [],
  };
}
