import type { Coverage, SessionSnapshot } from '@queuelock/bridge/wire';
import { count, counted } from './text.ts';

/**
 * Returns a text that identifies a session in the overview: entries with the same owner, host, process and
 * instance belong to one session.
 */
export function sessionKey({
  owner,
  host,
  pid,
  instance,
}: Pick<SessionSnapshot, 'owner' | 'host' | 'pid' | 'instance'>): string {
  return JSON.stringify([owner, host, pid, instance]);
}

/** Returns the sessions that contain a text in their owner, host, process or in the name of one of their queues. */
export function sessionsWith(
  sessions: readonly SessionSnapshot[],
  filter: string,
): readonly SessionSnapshot[] {
  const wanted = filter.toLowerCase();
  if (wanted === '') return sessions;
  return sessions.filter(({ owner, host = '', pid = '', entries }) =>
    [owner, host, String(pid), ...entries.map(({ name }) => name)].some((text) =>
      text.toLowerCase().includes(wanted),
    ),
  );
}

/** Describes how many queues the bridge has omitted from a snapshot, as text to append to a sentence. */
export function coverageText({ included, omitted }: Coverage): string {
  return omitted === 0
    ? ''
    : `: the ${counted(included, 'deepest queue')}; ${count(omitted)} more are omitted`;
}
