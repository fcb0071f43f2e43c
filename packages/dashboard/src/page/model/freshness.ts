import type { Observed } from '@queuelock/bridge/client';
import type { Snapshot } from '@queuelock/bridge/wire';
import { seconds } from './text.ts';

/** Describes how far the shown data can be relied on; the text is `undefined` when it is live. */
export interface Freshness {
  readonly tone: 'live' | 'connecting' | 'stale';
  readonly words: string | undefined;
}

/** Current times of the page and, as far as it is known, of the bridge. */
export interface Now {
  readonly page: number;
  readonly bridge: number;
}

/**
 * Evaluates a snapshot, which came from a store, through a bridge, over a connection. The text names the first of them that
 * fails.
 */
export function freshnessOf(
  { connection, since, error, snapshot, refusal }: Observed<Snapshot>,
  now: Now,
): Freshness {
  if (connection === 'stale') {
    const why = error ? ` (${withoutCode(error.message)})` : '';
    return {
      tone: 'stale',
      words: `The server of this page does not answer${why}: last heard ${seconds(now.page - since)} ago; reconnecting.`,
    };
  }
  if (refusal)
    return {
      tone: 'stale',
      words: `The server of this page refuses to tell: ${withoutCode(refusal.message)}.`,
    };
  if (!snapshot) {
    const why = error ? `: ${withoutCode(error.message)}; trying again.` : '.';
    return { tone: 'connecting', words: `Connecting${why}` };
  }
  const trouble = snapshot.error ? `: ${withoutCode(snapshot.error.message)}` : '';
  if (snapshot.status === 'connecting')
    return { tone: 'connecting', words: `The store does not answer yet${trouble}.` };
  if (snapshot.status === 'live') return { tone: 'live', words: undefined };
  return {
    tone: 'stale',
    words: `The store does not answer, this is as of ${seconds(now.bridge - snapshot.at)} ago${trouble}.`,
  };
}

/** Returns an error's message without its leading code and its full stop. */
export function withoutCode(message: string): string {
  return message.replace(/^\[[A-Z_]+\] /, '').replace(/\.$/, '');
}
