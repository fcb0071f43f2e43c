import type { FuzzTarget } from '@queuelock/harness/fuzz/target';
import { openOver } from './http2.ts';

/** Returns the fuzz target for the bytes that etcd sends on a connection of the transport `socket`. */
export function open(): Promise<FuzzTarget> {
  return openOver('socket');
}
