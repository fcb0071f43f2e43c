import type { Liveness } from './liveness.ts';
import type { Session } from '../api/spi.ts';

/** An open session with its liveness. */
export interface LiveSession {
  readonly session: Session;
  readonly liveness: Liveness;
  /** Ids of the entries that are in a queue, or are joining or leaving one. */
  readonly ids: Set<string>;
}
