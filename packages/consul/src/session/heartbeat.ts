import { QueueLockError, isQueueLockError, sessionLost } from '@queuelock/core/backend';
import type { Connection } from '../server/connection.ts';
import type { SessionKey } from '../server/session-key.ts';

/** The objects that are needed to send heartbeats. */
export interface HeartbeatTools {
  readonly connection: Connection;
  readonly sessionKey: SessionKey;
}

const END_TIMEOUT_MS = 1_000;

/**
 * Sends heartbeats until one is confirmed. Makes at least two attempts, and at least one for each agent.
 * @throws {QueueLockError} `SESSION_LOST` when the session has ended or another process uses it
 */
export async function sendHeartbeat(
  tools: HeartbeatTools,
  session: string,
  signal: AbortSignal,
): Promise<void> {
  for (let left = Math.max(2, tools.connection.agents); ; left -= 1) {
    try {
      await attempt(tools, session, signal);
      return;
    } catch (error) {
      signal.throwIfAborted();
      if (left === 1 || !isQueueLockError(error, 'UNAVAILABLE')) throw error;
    }
  }
}

/**
 * Sends a renewal, and then a read that a quorum of servers confirms. The read proves that the session existed after the renewal was sent, and that
 * no other process had taken it over.
 */
async function attempt(
  { connection, sessionKey }: HeartbeatTools,
  session: string,
  signal: AbortSignal,
): Promise<void> {
  const path = `/v1/session/renew/${session}`;
  const expected = [200, 404];
  const { status } = await connection.send({ method: 'PUT', path, signal, expected, isUrgent: true });
  if (!(await sessionKey.isOwn(signal))) throw sessionLost(session);
  // A leader that was just elected may not have read its whole log, and a leader that was replaced may lack
  // new sessions. So the heartbeat must be repeated.
  if (status === 404)
    throw new QueueLockError(
      'UNAVAILABLE',
      `${connection.endpoint}: the leader does not know the session yet`,
    );
}

/** Ends a session, unless another process uses it. If the request fails, the TTL ends the session. */
export async function end({ connection, sessionKey }: HeartbeatTools, session: string): Promise<void> {
  try {
    if (!(await sessionKey.delete())) return;
    const path = `/v1/session/destroy/${session}`;
    await connection.send({ method: 'PUT', path, timeoutMs: END_TIMEOUT_MS });
  } catch (error) {
    if (!isQueueLockError(error)) throw error;
  }
}
