import { createMemoryServer, memory, virtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import { createLockClient, type LockClientOptions } from '../src/index.ts';
import type { Backend } from '../src/backend.ts';

/** Creates a backend that supports heartbeats from a heartbeat thread. */
function withRenewers(check: () => void = () => undefined): Backend {
  const loadSources = (): never => expect.fail('no session is opened');
  return Object.assign(memory({ server: createMemoryServer() }), { renewers: { check, loadSources } });
}

function refusal(backend: Backend, options: LockClientOptions): unknown {
  try {
    createLockClient(backend, options);
    return undefined;
  } catch (error) {
    return String(error);
  }
}

describe('the option maxBlockedMs', () => {
  it('accepts 0, the minimum and the maximum on a backend with a heartbeat thread', () => {
    for (const maxBlockedMs of [0, 1_000, 3_600_000])
      expect(refusal(withRenewers(), { maxBlockedMs })).to.equal(undefined);
    expect(refusal(memory(), { maxBlockedMs: 0 })).to.equal(undefined);
  });

  it('refuses other values with an error that states the argument, the value and the rule', () => {
    for (const maxBlockedMs of [-1, 1, 999, 3_600_001, NaN, Infinity])
      expect(refusal(withRenewers(), { maxBlockedMs })).to.match(
        new RegExp(`INVALID_ARGUMENT.*maxBlockedMs .*from 1000 to 3600000.*${maxBlockedMs}`),
      );
  });

  it('is refused on a backend whose heartbeats only the main thread can send', () => {
    expect(refusal(memory(), { maxBlockedMs: 5_000 })).to.match(
      /INVALID_ARGUMENT.*maxBlockedMs is 0 on memory: only the main thread sends its heartbeats/,
    );
  });

  it('is refused together with a clock of the caller, because a thread cannot read that clock', () => {
    expect(refusal(withRenewers(), { maxBlockedMs: 5_000, clock: virtualClock() })).to.match(
      /beside the option clock/,
    );
  });

  it('makes createLockClient throw when the options of the backend do not allow heartbeats from a thread', () => {
    const check = (): void => expect.fail('they cannot be sent');
    expect(refusal(withRenewers(check), { maxBlockedMs: 5_000 })).to.match(/they cannot be sent/);
  });
});
