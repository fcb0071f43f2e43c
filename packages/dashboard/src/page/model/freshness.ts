import type { Observed } from '@queuelock/bridge/client';
import type { Snapshot } from '@queuelock/bridge/wire';
import { seconds } from './text.ts';

/** Describes whether the shown data is up to date. The text is `undefined` while the data is live. */
export interface Freshness {
  readonly tone: 'live' | 'connecting' | 'stale';
  readonly text: string | undefined;
}

/** The current time by the clock of the page, and by the clock of the bridge as far as the page knows it. */
export interface Now {
  readonly page: number;
  readonly bridge: number;
}

/**
 * Evaluates whether a snapshot is up to date. If it is not, the text names the cause: the connection to the
 * bridge, a refusal by the bridge, or the store.
 */
export function freshnessOf(
  { connection, since, error, snapshot, refusal }: Observed<Snapshot>,
  now: Now,
): Freshness {
  if (connection === 'stale') {
    const why = error ? ` (${withoutCode(error.message)})` : '';
    return {
      tone: 'stale',
      text: `The server of this page does not respond${why}. Last data ${seconds(now.page - since)} ago; reconnecting.`,
    };
  }
  if (refusal)
    return {
      tone: 'stale',
      text: `The server of this page refuses to show this: ${withoutCode(refusal.message)}.`,
    };
  if (!snapshot) {
    const why = error ? `: ${withoutCode(error.message)}; trying again.` : '.';
    return { tone: 'connecting', text: `Connecting${why}` };
  }
  const cause = snapshot.error ? `: ${withoutCode(snapshot.error.message)}` : '';
  if (snapshot.status === 'connecting')
    return { tone: 'connecting', text: `The store has not responded yet${cause}.` };
  if (snapshot.status === 'live') return { tone: 'live', text: undefined };
  return {
    tone: 'stale',
    text: `The store does not respond. This is the state of ${seconds(now.bridge - snapshot.at)} ago${cause}.`,
  };
}

/** Returns an error's message without its leading code and its full stop. */
export function withoutCode(message: string): string {
  return message.replace(/^\[[A-Z_]+\] /, '').replace(/\.$/, '');
}
