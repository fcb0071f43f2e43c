import { QueueLockError, invalidArgument, type BackendInfo } from '@queuelock/core/backend';
import type { Settings } from '../api/options.ts';

// The minimum TTL in ticks. In a shorter session, an acknowledged heartbeat does not prove that the session
// lives; see `HeartbeatProof`.
const MIN_TICKS = 4;
const USUAL_TTL_MS = 15_000;
// The maximum TTL. The session timeout of the protocol is a signed 32-bit number of milliseconds.
const MAX_TTL_MS = 2 ** 31 - 1;

/** The settings of the servers that determine the minimum TTL. */
export type Ticks = Pick<Settings, 'tickTimeMs' | 'syncLimit'>;

/**
 * Returns the minimum TTL of a session. From this TTL on, no server can end a session before the time that its heartbeats prove. A member that is cut
 * off from its leader, and a leader that stalls, continue for `syncLimit` ticks before they notice. A session that is two ticks longer still exists
 * then.
 */
export function shortestSession({
  tickTimeMs,
  syncLimit,
}: Ticks): Required<Pick<BackendInfo, 'minTtlMs' | 'minTtlRule' | 'defaultTtlMs'>> {
  const minTtlMs = Math.max(MIN_TICKS, syncLimit + 2) * tickTimeMs;
  const ticks = syncLimit + 2 < MIN_TICKS ? `${MIN_TICKS}` : `(syncLimit ${syncLimit} + 2)`;
  return {
    minTtlMs,
    minTtlRule:
      `${ticks} x tickTime ${tickTimeMs} ms; set tickTimeMs and syncLimit of the backend to the values of the servers ` +
      '(syncLimit 2 for a single server, which has no followers)',
    defaultTtlMs: Math.max(USUAL_TTL_MS, minTtlMs),
  };
}

/**
 * Checks the TTL that a caller requests.
 * @throws {QueueLockError} `INVALID_ARGUMENT` if the TTL is too long, or too short for heartbeats to prove
 *   that the session lives
 */
export function checkRequested(ttlMs: number, ticks: Ticks): void {
  const { minTtlMs, minTtlRule } = shortestSession(ticks);
  if (ttlMs >= minTtlMs && ttlMs <= MAX_TTL_MS) return;
  throw invalidArgument(
    'ttlMs',
    ttlMs,
    `is a number of milliseconds from ${minTtlMs} to ${MAX_TTL_MS} on zookeeper: ${minTtlRule}`,
  );
}

/**
 * Checks the TTL that the server has granted.
 * @throws {QueueLockError} `INVALID_ARGUMENT` when it is less than the minimum TTL
 */
export function checkGranted(
  grantedMs: number,
  requestedMs: number,
  settings: Ticks & Pick<Settings, 'endpoint'>,
): void {
  const { minTtlMs, minTtlRule } = shortestSession(settings);
  if (grantedMs >= minTtlMs) return;
  throw new QueueLockError(
    'INVALID_ARGUMENT',
    `ttlMs ${requestedMs} is more than the server at ${settings.endpoint} allows: it grants ${grantedMs} ms (its maxSessionTimeout, ` +
      `by default 20 of its ticks), and at least ${minTtlMs} ms are needed: ${minTtlRule}, or raise maxSessionTimeout ` +
      `of the servers; got ${grantedMs}`,
  );
}
