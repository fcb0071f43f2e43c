import { uint32, type Bytes } from './frame-reader.ts';
import { ConnectionError, MAX_31_BITS, MAX_FRAME_SIZE } from './protocol.ts';

const HEADER_TABLE_SIZE = 0x1;
export const ENABLE_PUSH = 0x2;
const MAX_CONCURRENT_STREAMS = 0x3;
export const INITIAL_WINDOW_SIZE = 0x4;
const MAX_FRAME_SIZE_SETTING = 0x5;
export const MAX_HEADER_LIST_SIZE = 0x6;

const ENTRY = 6;
const LARGEST_FRAME = 2 ** 24 - 1;

/** The settings of the peer that a frame contains and this client uses (RFC 9113, section 6.5.2). */
export interface PeerSettings {
  headerTableSize?: number;
  maxConcurrentStreams?: number;
  initialWindowSize?: number;
}

/**
 * Reads the payload of a SETTINGS frame. If a setting occurs more than once, the last value applies. MAX_FRAME_SIZE is only checked, since this
 * client never sends frames above the minimum that every peer must accept. MAX_HEADER_LIST_SIZE is only a hint, and is ignored.
 * @throws {ConnectionError} if a value is not permitted
 */
export function readSettings({ bytes, start, end }: Bytes): PeerSettings {
  if ((end - start) % ENTRY !== 0)
    throw new ConnectionError('FRAME_SIZE_ERROR', 'settings of an invalid length');
  const settings: PeerSettings = {};
  for (let at = start; at < end; at += ENTRY) {
    const value = uint32(bytes, at + 2);
    switch (bytes.readUInt16BE(at)) {
      case HEADER_TABLE_SIZE:
        settings.headerTableSize = value;
        break;
      case ENABLE_PUSH:
        if (value !== 0) throw new ConnectionError('PROTOCOL_ERROR', 'a server that enables push');
        break;
      case MAX_CONCURRENT_STREAMS:
        settings.maxConcurrentStreams = value;
        break;
      case INITIAL_WINDOW_SIZE:
        if (value > MAX_31_BITS)
          throw new ConnectionError('FLOW_CONTROL_ERROR', `an initial window of ${value} bytes`);
        settings.initialWindowSize = value;
        break;
      case MAX_FRAME_SIZE_SETTING:
        if (value < MAX_FRAME_SIZE || value > LARGEST_FRAME)
          throw new ConnectionError('PROTOCOL_ERROR', `a maximum frame size of ${value} bytes`);
        break;
      default:
      // Ignores unknown settings, as RFC 9113 requires.
    }
  }
  return settings;
}
