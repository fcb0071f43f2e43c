import { createMemoryServer, memory, type Intercept } from '@queuelock/memory';
import { createLockManager, type HeldLock, type LockManager, type LockOptions } from '@queuelock/weblocks';
import { expect } from 'chai';
import fc from 'fast-check';
import { SafetyViolation } from '@queuelock/harness/safety';

const KINDS = ['exclusive', 'shared', 'try', 'try shared', 'steal', 'aborted'] as const;

/** Generates one request of one client. Its times are numbers of turns of the event loop. */
const requests = fc.record({
  by: fc.nat({ max: 2 }),
  name: fc.constantFrom('a', 'b'),
  kind: fc.constantFrom(...KINDS),
  after: fc.nat({ max: 4 }),
  holds: fc.nat({ max: 6 }),
  abortsAfter: fc.nat({ max: 12 }),
});
/**
 * Generates how many turns of the event loop each call to the store takes. After the last number of the list,
 * the list begins again.
 */
const delays = fc.array(fc.nat({ max: 3 }), { minLength: 3, maxLength: 9 });

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i += 1) await new Promise((resolve) => setImmediate(resolve));
}

function optionsOf(kind: (typeof KINDS)[number], signal: AbortSignal): LockOptions {
  if (kind === 'try') return { ifAvailable: true };
  if (kind === 'try shared') return { ifAvailable: true, mode: 'shared' };
  if (kind === 'steal') return { steal: true };
  return kind === 'aborted' ? { signal } : { mode: kind };
}

/**
 * Records which clients hold which locks. Throws if two holds exclude each other or if a token does not grow.
 */
class Ledger {
  readonly #holding = new Map<string, Set<HeldLock>>();
  readonly #tokens = new Map<string, bigint>();

  begin(lock: HeldLock): void {
    const others = this.#holding.get(lock.name) ?? new Set();
    for (const other of others) {
      const isAlone = lock.mode === 'exclusive' || other.mode === 'exclusive';
      if (isAlone && other.held) throw new SafetyViolation(`${lock.name} is held twice`);
    }
    const before = this.#tokens.get(lock.name) ?? 0n;
    if (lock.mode === 'exclusive' && lock.token <= before)
      throw new SafetyViolation(`a token of ${lock.name} went back`);
    if (lock.token > before) this.#tokens.set(lock.name, lock.token);
    this.#holding.set(lock.name, others.add(lock));
  }

  end(lock: HeldLock): void {
    this.#holding.get(lock.name)?.delete(lock);
  }
}

/** Checks that requests of one client for one name are granted in the order in which they were made. */
class Order {
  readonly #requested = new Map<string, number>();
  readonly #granted = new Map<string, number>();

  ask(line: string): number {
    const number = (this.#requested.get(line) ?? 0) + 1;
    this.#requested.set(line, number);
    return number;
  }

  grant(line: string, number: number): void {
    if (number <= (this.#granted.get(line) ?? 0))
      throw new SafetyViolation(`${line} is granted out of order`);
    this.#granted.set(line, number);
  }
}

describe('random requests of three clients with delayed responses', function () {
  this.timeout(60_000);

  it('are granted in order and one at a time, and leave no entry', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(requests, { maxLength: 14 }), delays, async (requested, waits) => {
        const server = createMemoryServer();
        let calls = 0;
        const wait = (): Promise<void> => turns(waits[(calls += 1) % waits.length]!);
        const intercept: Intercept = async (_call, proceed) => {
          await wait();
          const response = await proceed();
          await wait();
          return response;
        };
        const managers = [0, 1, 2].map((): LockManager =>
          createLockManager(memory({ server, intercept }), { scope: 's' }),
        );
        const ledger = new Ledger();
        const order = new Order();
        const faults: unknown[] = [];
        const running: Promise<unknown>[] = [];
        for (const { by, name, kind, after, holds, abortsAfter } of requested) {
          await turns(after);
          const controller = new AbortController();
          const waits = kind === 'exclusive' || kind === 'shared' || kind === 'aborted';
          const line = `${by} ${name}`;
          const number = waits ? order.ask(line) : 0;
          const result = managers[by]!.request(name, optionsOf(kind, controller.signal), async (lock) => {
            try {
              if (!lock) return;
              if (waits) order.grant(line, number);
              ledger.begin(lock);
              await turns(holds);
              ledger.end(lock);
            } catch (fault) {
              faults.push(fault);
            }
          });
          if (kind === 'aborted') void turns(abortsAfter).then(() => controller.abort('enough'));
          running.push(
            result.catch((error: unknown) => {
              if (error !== 'enough' && !(error instanceof DOMException && error.name === 'AbortError'))
                faults.push(error);
            }),
          );
        }
        await Promise.all(running);
        const unsafe = faults.find((fault) => fault instanceof SafetyViolation);
        if (unsafe) throw unsafe;
        expect(faults).to.deep.equal([]);
        for (const locks of managers) await locks.close();
        expect([...server.queues().keys()]).to.deep.equal([]);
      }),
      { numRuns: 150 },
    );
  });
});
