import type { Entry } from '../entry/entry.ts';
import type { AnswerTools } from '../handover/requests.ts';
import type { LiveSession } from '../session/session.ts';
import type { BackendInfo, Turn } from '../api/spi.ts';

/** Constructor arguments of an ownership. */
export interface OwnershipInit {
  readonly entry: Entry;
  readonly live: LiveSession;
  readonly tools: AnswerTools;
  /** The admission that led to the hold. */
  readonly turn: Turn;
  readonly listener: OwnershipListener;
  /** The backend's facts, for diagnostics. */
  readonly info: BackendInfo;
}

/** Listener for the voluntary end of an ownership. */
export interface OwnershipListener {
  /** Called when the hold has ended and its entry is about to leave. */
  givenUp(): void;
  /** Called when the release was confirmed. */
  released(): void;
}
