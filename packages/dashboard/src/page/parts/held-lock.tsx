import type { PageLock } from '@queuelock/bridge/client';
import type { HandoverSnapshot } from '@queuelock/bridge/wire';
import { useState, type ReactElement } from 'react';
import { useNow } from '../hooks/now.ts';
import { useTask } from '../hooks/task.ts';
import { withoutCode } from '../model/freshness.ts';
import { duration, plain } from '../model/text.ts';

export interface HeldLockProps {
  readonly lock: PageLock;
  readonly isSuspect: boolean;
  readonly leave: () => void;
}

/** Shows a lock that this page holds, its proven time, and the handover requests. */
export function HeldLock({ lock, isSuspect, leave }: HeldLockProps): ReactElement {
  useNow(250);
  const [fullMs, setFullMs] = useState(lock.remainingMs);
  const { remainingMs } = lock;
  if (remainingMs > fullMs) setFullMs(remainingMs);
  return (
    <div className="standing">
      <p className="place" role="status">
        {isSuspect ? 'You hold the lock (suspect)' : 'You hold the lock'}
      </p>
      <div className="meter" data-kind="budget">
        <span className="track" aria-hidden="true">
          <span className="fill" style={{ transform: `scaleX(${fullMs > 0 ? remainingMs / fullMs : 0})` }} />
        </span>
        <span className="note">
          {isSuspect ? 'a heartbeat is overdue: ' : ''}
          {duration(remainingMs)} proven from now
        </span>
      </div>
      <p className="hint">
        Token <code>{lock.token}</code>
      </p>
      {lock.requests.map((request) => (
        <Request key={request.from} request={request} lock={lock} />
      ))}
      <button type="button" className="primary" onClick={leave}>
        Release
      </button>
    </div>
  );
}

function Request({
  request,
  lock,
}: {
  readonly request: HandoverSnapshot;
  readonly lock: PageLock;
}): ReactElement {
  const [task, start] = useTask<unknown>();
  const owner = plain(request.owner) || 'A client';
  const responses = [
    ['yield', 'Yield', 'releases to the next waiter'],
    ['pass', `Pass to ${owner}`, 'releases to the requester ahead of other waiters'],
    ['decline', 'Decline', 'keeps the lock'],
  ] as const;
  return (
    <div className="request" role="group" aria-label={`Request of ${owner}`}>
      <p>
        <strong>{owner}</strong> requests the lock: {plain(request.reason)}
      </p>
      <div className="acts">
        {responses.map(([response, title, effect]) => (
          <button
            key={response}
            type="button"
            title={effect}
            disabled={task.status === 'busy' || task.status === 'done'}
            onClick={() => {
              start(() =>
                lock.answer(request.from, response, response === 'decline' ? 'not now' : undefined),
              );
            }}
          >
            {title}
          </button>
        ))}
      </div>
      {task.status === 'failed' && <p className="failure">{plain(withoutCode(task.message))}</p>}
    </div>
  );
}
