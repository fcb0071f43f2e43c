import type { CommandLine } from './programs.ts';
import { ours, type Kind } from './kinds.ts';
import { alike, amongOurs, twice } from './parties.ts';
import type { Rows } from './row.ts';

/** A client from outside of this repository, given on the command line of `pnpm interop`. */
export interface OwnClient {
  readonly command: CommandLine;
  /** The argument RECIPE with which the client's program is started. */
  readonly recipe: string;
  /** Whether the client continues after a loss of the lock, because its library does not notify it. */
  readonly isDeaf: boolean;
}

/** Returns the combinations of participants in which the client contends with itself and with queuelock. */
export function rowsOf({ command, recipe, isDeaf }: OwnClient): Rows {
  const kind: Kind = {
    title: `client written from FORMATS.md, ${recipe}`,
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
