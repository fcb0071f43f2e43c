import { expect } from 'chai';
import { checkedSignal } from '../src/base/checked-signal.ts';

function overdueSignal(): { signal: AbortSignal; events: string[] } {
  const controller = new AbortController();
  const events: string[] = [];
  const signal = checkedSignal(controller, () => {
    controller.abort(new Error('overdue'));
  });
  signal.addEventListener('abort', () => events.push('abort'));
  return { signal, events };
}

describe('a signal that checks its deadline at every read', () => {
  it('fires its abort event before `aborted` first returns true after the deadline', () => {
    const { signal, events } = overdueSignal();
    events.push(`aborted: ${String(signal.aborted)}`);
    expect(events).to.deep.equal(['abort', 'aborted: true']);
  });

  it('throws its reason from throwIfAborted after the deadline', () => {
    const { signal } = overdueSignal();
    expect(() => {
      signal.throwIfAborted();
    }).to.throw('overdue');
  });

  it('has the reason of the abort when code reads `reason` after the deadline', () => {
    expect(overdueSignal().signal.reason).to.have.property('message', 'overdue');
  });

  it('can be combined by AbortSignal.any, like a built-in signal', async () => {
    const controller = new AbortController();
    const signal = checkedSignal(controller, () => undefined);
    const both = AbortSignal.any([signal, new AbortController().signal]);
    expect(both.aborted).to.equal(false);
    controller.abort(new Error('over'));
    expect(both.reason).to.have.property('message', 'over');
  });
});
