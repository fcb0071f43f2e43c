import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';
import { QueueLockError, createLockClient, type QueueLockErrorCode } from '../src/index.ts';
import { rejection } from './stage.ts';

const RETRYABLE: Readonly<Record<QueueLockErrorCode, boolean>> = {
  INVALID_ARGUMENT: false,
  TIMEOUT: true,
  WORK_TIMEOUT: false,
  REENTRANT: false,
  CLOSED: false,
  UNAVAILABLE: true,
  ACCESS_DENIED: false,
  SESSION_LOST: true,
  ENTRY_LOST: true,
  OWNERSHIP_LOST: false,
  NOT_ENOUGH_TIME: true,
  QUEUE_FULL: true,
  WAIT_TOO_LONG: true,
  LIMIT_MISMATCH: false,
  FOREIGN_FORMAT: false,
  DEADLOCK: true,
};

describe('an error', () => {
  it('is retryable when no work was done and another attempt may succeed', () => {
    for (const [code, retryable] of Object.entries(RETRYABLE))
      expect(new QueueLockError(code as QueueLockErrorCode, 'x').retryable, code).to.equal(retryable);
  });

  it('of a loss warns that the work may have had effects and must not be repeated blindly', async () => {
    const server = createMemoryServer();
    await using client = createLockClient(memory({ server }));
    const effects: string[] = [];
    const lost = await rejection(
      client.run('x', () => {
        effects.push('paid');
        server.expireSession(server.sessionIds[0]!);
      }),
    );
    expect(lost).to.include({ code: 'OWNERSHIP_LOST', retryable: false });
    expect(effects).to.deep.equal(['paid']);
  });
});
