import type { NodeChange } from '../driver/driver.ts';
import type { JuteReader } from './jute-read.ts';

const CHANGE: Readonly<Record<number, NodeChange>> = { 1: 'created', 2: 'deleted', 3: 'changed', 4: 'child' };

/** A change that a watch tells of. */
export interface WatchEvent {
  readonly path: string;
  readonly change: NodeChange;
}

/** Nothing for an event that is not about a change of a node (`WatcherEvent`). */
export function getEvent(reader: JuteReader): WatchEvent | undefined {
  const change = CHANGE[reader.int()];
  reader.int();
  const path = reader.text();
  return change && { path, change };
}
