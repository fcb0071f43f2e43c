import { memory } from '@queuelock/memory';
import { expect } from 'chai';
import {
  createLockClient,
  isQueueLockError,
  type AcquireOptions,
  type ClaimOptions,
  type LockClient,
  type Ownership,
} from '../src/index.ts';
import { rejection, thrownBy } from './stage.ts';

/** An invalid option, with the parts that the message of its error must have: argument, value and rule. */
type Wrong<O> = readonly [given: O, argument: string, value: string, rule: string];

const long = (length: number): string => 'x'.repeat(length);
const shown = (text: string): string => `"${text.slice(0, 77)}...`;
const reason = 'is a text of 1 to 200 characters';

const CLAIMS: readonly Wrong<ClaimOptions>[] = [
  [{ mode: 'read' as 'shared' }, 'mode', '"read"', "'exclusive' or 'shared'"],
  [{ mode: 'shared', limit: 2 }, 'mode', '"shared"', "'exclusive' with a limit or permits"],
  [{ mode: 'shared', permits: 2 }, 'mode', '"shared"', "'exclusive' with a limit or permits"],
  [{ limit: 0 }, 'limit', '0', 'a whole number from 1 to 1000000'],
  [{ limit: 1.5 }, 'limit', '1.5', 'a whole number from 1 to 1000000'],
  [{ limit: '3' as unknown as number }, 'limit', '"3"', 'a whole number'],
  [{ limit: 2, permits: 3 }, 'permits', '3', 'a whole number from 1 to 2'],
  [{ permits: -1 }, 'permits', '-1', 'a whole number from 1 to 1'],
  [{ maxWaiters: 0 }, 'maxWaiters', '0', 'a whole number from 1 to 1000000'],
  [{ maxExpectedWaitMs: -1 }, 'maxExpectedWaitMs', '-1', 'a number of milliseconds from 0'],
  [{ maxExpectedWaitMs: Number.NaN }, 'maxExpectedWaitMs', 'NaN', 'a number of milliseconds from 0'],
  [{ steal: { reason: '' } }, 'steal.reason', '""', reason],
  [{ steal: { reason: long(201) } }, 'steal.reason', shown(long(201)), reason],
  [{ steal: {} as { reason: string } }, 'steal.reason', 'undefined', 'is a string'],
  [{ request: { reason: '', withinMs: 1 } }, 'request.reason', '""', reason],
  [{ request: { reason: 'x', withinMs: 0 } }, 'request.withinMs', '0', 'a number of milliseconds from 1'],
  [
    { request: { reason: 'x' } as { reason: string; withinMs: number } },
    'request.withinMs',
    'undefined',
    'a number',
  ],
  [{ timeoutMs: 0, steal: { reason: 'x' } }, 'steal', '"timeoutMs: 0"', 'a wait in the queue'],
  [
    { timeoutMs: 0, request: { reason: 'x', withinMs: 1 } },
    'request',
    '"timeoutMs: 0"',
    'a wait in the queue',
  ],
  [{ value: 'x', request: { reason: 'x', withinMs: 1 } }, 'request', '"value"', 'cannot also carry a value'],
  [{ id: 'my entry' }, 'id', '"my entry"', 'is the id of an entry'],
  [{ value: long(1_025) }, 'value', '"1025 bytes"', 'at most 1024 bytes'],
  [{ value: 7 as unknown as string }, 'value', '7', 'is a string'],
  [{ owner: long(1_025) }, 'owner', '"1025 bytes"', 'at most 1024 bytes'],
  [{ metadata: { a: 7 as unknown as string } }, 'metadata.a', '7', 'is a string'],
  [{ holding: 'x' as unknown as [] }, 'holding', '"x"', 'is a list of ownerships'],
  [{ holding: [undefined] as unknown as [] }, 'holding', 'an array', 'is a list of ownerships'],
  [{ steal: 'now' as unknown as { reason: string } }, 'steal', 'a string', 'must be an object'],
];

const ACQUISITIONS: readonly Wrong<AcquireOptions>[] = [
  [
    { reenter: {} as never },
    'reenter',
    'an object',
    'a hold of "x" that this client acquired with reentrant: true',
  ],
  [{ minRemainingMs: -1 }, 'minRemainingMs', '-1', 'a number of milliseconds from 0'],
  [{ timeoutMs: -1 }, 'timeoutMs', '-1', 'a number of milliseconds from 0'],
];

function expectRefusal(error: unknown, [, argument, value, rule]: Wrong<unknown>): void {
  expect(isQueueLockError(error, 'INVALID_ARGUMENT'), String(error)).to.equal(true);
  const { message } = error as Error;
  expect(message.startsWith(`[INVALID_ARGUMENT] ${argument} `), message).to.equal(true);
  expect(message).to.include(rule).and.to.include(`got ${value}`);
}

describe('an option out of its range', () => {
  let client: LockClient;
  beforeEach(() => (client = createLockClient(memory())));
  afterEach(() => client.close());

  for (const wrong of CLAIMS) {
    const [input, argument, value] = wrong;
    it(`is refused by claim, acquire and run: ${argument} ${value.slice(0, 20)}`, async () => {
      expectRefusal(
        thrownBy(() => client.claim('x', input)),
        wrong,
      );
      expectRefusal(await rejection(client.acquire('x', input)), wrong);
      expectRefusal(await rejection(client.run('x', () => undefined, input)), wrong);
    });
  }

  for (const wrong of ACQUISITIONS) {
    const [input, argument, value] = wrong;
    it(`makes acquire reject: ${argument} ${value}`, async () => {
      expectRefusal(await rejection(client.acquire('x', input)), wrong);
    });
  }

  it('is refused by multi, and by the methods of a multi-lock', async () => {
    const names: readonly Wrong<readonly string[]>[] = [
      [[], 'names', 'an array', '1 to 60'],
      [Array.from({ length: 61 }, (_, at) => String(at)), 'names', 'an array', '1 to 60'],
      ['x' as unknown as string[], 'names', '"x"', '1 to 60'],
      [['a', 'b', 'a'], 'names', '"a"', 'all different'],
      [['a', ''], 'name', '""', 'not empty'],
    ];
    for (const wrong of names)
      expectRefusal(
        thrownBy(() => client.multi(wrong[0])),
        wrong,
      );
    const several = client.multi(['x', 'y']);
    expectRefusal(
      thrownBy(() => several.claim({ timeoutMs: -1 })),
      [0, 'timeoutMs', '-1', 'milliseconds'],
    );
    expectRefusal(await rejection(several.acquire({ minRemainingMs: -1 })), [
      0,
      'minRemainingMs',
      '-1',
      'milliseconds',
    ]);
    await several.run((own) => {
      expectRefusal(
        thrownBy(() => own.of('z')),
        [0, 'name', '"z"', 'is one of ["x","y"]'],
      );
    });
  });

  it('is refused by downgrade and update of a hold', async () => {
    const own = await client.acquire('x', { limit: 2 });
    expectRefusal(await rejection((own as Ownership).downgrade()), [
      0,
      'downgrade',
      '"a limit of 2"',
      'a limit of 1',
    ]);
    expectRefusal(await rejection(own.update({ value: long(1_025) })), [0, 'value', '"1025 bytes"', '1024']);
    const bad = { metadata: { a: 7 as unknown as string } };
    expectRefusal(await rejection(own.update(bad)), [0, 'metadata.a', '7', 'is a string']);
    await own.release();
  });

  it('is refused by evict', async () => {
    const entry = { key: 'x/1', order: 1n, owner: 'somebody' };
    for (const [text, value] of [
      ['', '""'],
      [long(201), shown(long(201))],
    ] as const)
      expectRefusal(await rejection(client.evict('x', entry, { reason: text })), [
        0,
        'reason',
        value,
        reason,
      ]);
    expectRefusal(
      thrownBy(() => client.evictions('')),
      [0, 'name', '""', 'not empty'],
    );
  });
});
