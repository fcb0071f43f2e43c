import type { LockManager, LockOptions } from '@queuelock/weblocks';
import { expect } from 'chai';
import { expectDom, reasonOf, type Facts } from '../frame.ts';

const nobody = (): never => {
  throw new Error('no callback runs');
};

/** Returns `request` without types, so that a test can pass wrong arguments. */
function untyped(locks: LockManager): { request(...args: unknown[]): Promise<unknown> } {
  return locks;
}

const NOT_SUPPORTED: readonly (readonly [string, string, LockOptions])[] = [
  ['a name that begins with a dash', '-', {}],
  ['a longer name that begins with a dash', '-jobs', {}],
  ['steal with ifAvailable', 'jobs', { steal: true, ifAvailable: true }],
  ['steal with the mode shared', 'jobs', { steal: true, mode: 'shared' }],
  ['steal with a signal', 'jobs', { steal: true, signal: new AbortController().signal }],
  ['ifAvailable with a signal', 'jobs', { ifAvailable: true, signal: new AbortController().signal }],
];

export const argumentFacts: Facts = {
  about: 'arguments',
  facts: [
    {
      title: 'a request without name or callback, or with values of wrong types, rejects with a TypeError',
      async check({ peer }) {
        const locks = untyped(peer().locks);
        const wrong: readonly unknown[][] = [
          [],
          ['jobs'],
          ...[undefined, null, 123, 'abc', [], {}, Promise.resolve()].map((callback) => ['jobs', callback]),
          ['jobs', {}, undefined],
          ['jobs', 'options', nobody],
          [Symbol('jobs'), nobody],
        ];
        for (const args of wrong) expect(await reasonOf(locks.request(...args))).to.be.instanceOf(TypeError);
      },
    },
    {
      title:
        'a mode other than shared or exclusive, or a signal that is not an AbortSignal, causes a TypeError',
      async check({ peer }) {
        const locks = untyped(peer().locks);
        const modes = ['foo', null, '', Symbol('exclusive')].map((mode) => ({ mode }));
        const signals = ['text', 12.5, false, null, {}, Symbol('signal'), nobody].map((signal) => ({
          signal,
        }));
        for (const options of [...modes, ...signals])
          expect(await reasonOf(locks.request('jobs', options, nobody))).to.be.instanceOf(TypeError);
      },
    },
    {
      title: 'absent, undefined and null options mean the defaults',
      async check({ peer }) {
        const locks = untyped(peer().locks);
        const modeOf = (lock: unknown): unknown => (lock as { mode: unknown }).mode;
        const options = { mode: undefined, ifAvailable: undefined, steal: undefined, signal: undefined };
        for (const some of [undefined, null, {}, options])
          expect(await locks.request('jobs', some, modeOf)).to.equal('exclusive');
      },
    },
    ...NOT_SUPPORTED.map(([what, name, options]) => ({
      title: `${what} causes a NotSupportedError`,
      async check({ peer }: Parameters<Facts['facts'][number]['check']>[0]) {
        await expectDom('NotSupportedError', peer().locks.request(name, options, nobody));
      },
    })),
    {
      title: 'a dash after the first character of a name is allowed',
      async check({ peer }) {
        expect(await peer().locks.request('x-anything', (lock) => lock?.name)).to.equal('x-anything');
      },
    },
    {
      title: 'a name that is too long for a store is refused with the number of excess bytes',
      async check({ peer }) {
        const reason = await reasonOf(peer().locks.request('x'.repeat(600), nobody));
        expect(String(reason)).to.match(/INVALID_ARGUMENT.* name is shorter by at least \d+ bytes/);
      },
    },
  ],
};
