import type { WireEvents } from './driver.ts';

/**
 * Returns a listener that passes published messages to `onMessage`. If a message is not a string, the client library has changed it, and
 * the listener ends the connection.
 */
export function messageTo({
  onMessage,
  onEnd,
}: Pick<WireEvents, 'onMessage' | 'onEnd'>): (channel: unknown, message: unknown) => void {
  return (channel, message) => {
    if (typeof channel === 'string' && typeof message === 'string') onMessage(channel, message);
    else onEnd(new Error('the client delivered a published message that is not a string'));
  };
}
