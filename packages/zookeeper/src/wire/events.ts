import type { NodeChange } from '../driver/driver.ts';
import type { JuteReader } from './jute-read.ts';

const CHANGE: Readonly<Record<number, NodeChange>> = { 1: 'created', 2: 'deleted', 3: 'changed', 4: 'child' };

/** A change that a watch reports. */
export interface WatchEvent {
  readonly path: string;
  readonly change: NodeChange;
}

/** Parses an event (`WatcherEvent`); returns `undefined` if it is not a change of a node. */
export function getEvent(reader: JuteReader): WatchEvent | undefined {
  const change = CHANGE[reader.int()];
  reader.int();
  const path = reader.text();
  return change && { path, change };
}
