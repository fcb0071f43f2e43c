import type { WireEvents } from './driver.ts';

/** Passes on what was published. Messages that are no text come from a client that changes them, and end its connection. */
export function messageTo({
  onMessage,
  onEnd,
}: Pick<WireEvents, 'onMessage' | 'onEnd'>): (channel: unknown, message: unknown) => void {
  return (channel, message) => {
    if (typeof channel === 'string' && typeof message === 'string') onMessage(channel, message);
    else onEnd(new Error('the client delivered a published message that is not a string'));
  };
}
