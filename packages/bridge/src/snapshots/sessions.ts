import { positionsOf } from '@queuelock/core';
import type { DeepQueues } from '../queue/deepest-queues.ts';
import type { SessionEntry, SessionSnapshot, SessionsSnapshot } from '../wire.ts';
import { snapshotOf } from './entry.ts';
import { entryRef } from './eviction.ts';
import { ifDefined } from './if-defined.ts';

/** Groups the entries of many queues by the program that made them. */
export function sessionsSnapshot(
  prefix: string,
  { list, queues, omitted }: DeepQueues,
  now: number,
): SessionsSnapshot {
  const sessions = new Map<string, SessionSnapshot & { readonly entries: SessionEntry[] }>();
  for (const { name, entries } of queues) {
    for (const [entry, position] of positionsOf(entries)) {
      const { owner, host, pid, instance, since } = entry;
      const key = JSON.stringify([owner, host, pid, instance]);
      const session = sessions.get(key) ?? {
        owner,
        ...ifDefined('host', host),
        ...ifDefined('pid', pid),
        ...ifDefined('instance', instance),
        entries: [],
      };
      session.entries.push({ ...entryRef(entry), name, position, ...ifDefined('since', since) });
      sessions.set(key, session);
    }
  }
  return {
    ...snapshotOf(list, now),
    prefix,
    sessions: [...sessions.values()].sort((a, b) => b.entries.length - a.entries.length),
    included: queues.length,
    omitted,
  };
}
