import { expect } from 'chai';
import {
  createFencingGate,
  fencedUpdate,
  fencingHeaders,
  memoryMaxima,
  npmZookeeper,
  type NpmZookeeperSession,
} from '../src/index.ts';

/** Returns the value without its TypeScript type, so that a test can pass options that only JavaScript allows. */
const untyped = (options: unknown): never => options as never;

describe('options of a fence', () => {
  const hold = { name: 'x', token: 1n, key: 'x/1' };
  const update = { table: 't', set: {}, where: { id: 1 }, hold };
  const session = untyped({}) as NpmZookeeperSession;
  const calls: Readonly<
    Record<string, readonly [call: (input: never) => unknown, near: string, meant: string]>
  > = {
    fencingHeaders: [(o) => fencingHeaders(hold, o), 'epock', 'epoch'],
    memoryMaxima: [memoryMaxima, 'resources', 'maxResources'],
    createFencingGate: [createFencingGate, 'maxim', 'maxima'],
    npmZookeeper: [(o) => npmZookeeper(session, o), 'timeout', 'timeoutMs'],
    fencedUpdate: [
      (o: object | null) => fencedUpdate('sqlite', untyped(o && { ...update, ...o })),
      'fences',
      'fence',
    ],
  };
  for (const [call, [with_, near, meant]] of Object.entries(calls))
    it(`are refused by name when they are unknown, in ${call}`, () => {
      expect(() => with_(untyped({ [near]: 1 }))).to.throw(
        new RegExp(`\\[INVALID_ARGUMENT\\].*: ${near} is unknown, did you mean ${meant}\\?`),
      );
      expect(() => with_(untyped(null))).to.throw(/\[INVALID_ARGUMENT\].* must be an object; got null/);
    });

  it('are refused when their value has the wrong type', async () => {
    expect(() => fencedUpdate('sqlite', { ...update, once: untyped('yes') })).to.throw(
      'once is a boolean; got "yes"',
    );
    expect(() => fencedUpdate('sqlite', { ...update, where: untyped(null) })).to.throw(
      'where must be an object',
    );
    expect(() => createFencingGate({ maxima: untyped(7) })).to.throw('maxima must be an object; got 7');
  });

  it('are refused when they are misspelled, even if the gate would accept the request without them', async () => {
    const headers = new Headers(fencingHeaders({ name: 'x', token: 1n }));
    const gate = createFencingGate();
    const { message } = (await gate
      .check((name) => headers.get(name), untyped({ locks: 'y' }))
      .catch((error: unknown) => error)) as Error;
    expect(message).to.equal('[INVALID_ARGUMENT] target: locks is unknown, did you mean lock?');
  });
});
