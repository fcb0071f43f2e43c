import type { Entry } from '../entry/entry.ts';
import type { AnswerTools } from '../handover/requests.ts';
import type { BackendInfo, Turn } from '../api/spi.ts';

/** Constructor arguments of an ownership. */
export interface OwnershipInit {
  readonly entry: Entry;
  /** The admission that led to the hold. */
  readonly turn: Turn;
  readonly holder: Holder;
  /** The backend's facts, for diagnostics. */
  readonly info: BackendInfo;
}

/** The claim that holds. The ownership calls it when its owner releases the lock. */
export interface Holder {
  /** Returns the parts of the client that the hold needs to answer requests. */
  tools(): AnswerTools;
  /** The ownership calls this when its owner has released it, before the removal of the entry is sent. */
  givenUp(): void;
  /** The ownership calls this when the store has confirmed the removal of the entry. */
  released(): void;
}
