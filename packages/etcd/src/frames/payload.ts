import type { Frame } from './frame-reader.ts';
import { ConnectionError } from './protocol.ts';

const PRIORITY_SIZE = 5;

/** Removes the padding from the payload of a frame with the flag PADDED. */
export function removePadding(frame: Frame): void {
  requireSize(frame, frame.end > frame.start);
  const padding = frame.bytes[frame.start] as number;
  frame.start += 1;
  frame.end -= padding;
  if (frame.end < frame.start)
    throw new ConnectionError('PROTOCOL_ERROR', 'a padding that is longer than its frame');
}

/** Removes the priority fields from the payload of a frame with the flag PRIORITY. HTTP/2 has deprecated them (RFC 9113, section 5.3). */
export function removePriority(frame: Frame): void {
  requireSize(frame, frame.end - frame.start >= PRIORITY_SIZE);
  frame.start += PRIORITY_SIZE;
}

/** Throws a `FRAME_SIZE_ERROR` if `isRight` is false. The caller sets `isRight` to whether the type of the frame permits its size. */
export function requireSize({ type, start, end }: Frame, isRight: boolean): void {
  if (!isRight)
    throw new ConnectionError('FRAME_SIZE_ERROR', `a frame of type ${type} with ${end - start} bytes`);
}
