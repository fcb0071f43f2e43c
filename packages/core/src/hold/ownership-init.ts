import type { Entry } from '../entry/entry.ts';
import type { AnswerTools } from '../handover/requests.ts';
import type { LiveSession } from '../session/session.ts';
import type { BackendInfo, Turn } from '../api/spi.ts';

/** What an ownership is made of. */
export interface OwnershipInit {
  readonly entry: Entry;
  readonly live: LiveSession;
  readonly tools: AnswerTools;
  /** The one that admitted it. */
  readonly turn: Turn;
  readonly listener: OwnershipListener;
  /** Of the backend, for whoever listens. */
  readonly info: BackendInfo;
}

/** Whoever hears that an ownership ends by its owner's will. */
export interface OwnershipListener {
  /** It is held no more, and its entry is about to leave. */
  givenUp(): void;
  /** The release was confirmed. */
  released(): void;
}
