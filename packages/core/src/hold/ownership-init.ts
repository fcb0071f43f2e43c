import type { Entry } from '../entry/entry.ts';
import type { AnswerTools } from '../handover/requests.ts';
import type { BackendInfo, Turn } from '../api/spi.ts';

/** Constructor arguments of an ownership. */
export interface OwnershipInit {
  readonly entry: Entry;
  /** The turn with which the entry was admitted. */
  readonly turn: Turn;
  readonly holder: Holder;
  /** The properties of the backend, for diagnostics messages. */
  readonly info: BackendInfo;
}

/** The part of a claim that its ownership uses. */
export interface Holder {
  /** Returns the parts of the client with which the holder responds to handover requests. */
  tools(): AnswerTools;
  /** Called when the owner releases the lock, before the removal of the entry is sent. */
  givenUp(): void;
  /** Called when the store has confirmed the removal of the entry. */
  released(): void;
}
