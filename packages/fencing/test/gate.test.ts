import { expect } from 'chai';
import fc from 'fast-check';
import {
  compareEpochTokens,
  createFencingGate,
  fencingHeaders,
  memoryMaxima,
  refuseRequest,
  type EpochToken,
  type FencingGateOptions,
  type HeaderGetter,
  type Maxima,
} from '../src/index.ts';

interface Sent extends EpochToken {
  readonly name: string;
}

const sent: fc.Arbitrary<Sent> = fc.record({
  name: fc.constantFrom('a', 'b'),
  epoch: fc.nat(2),
  token: fc.bigInt({ min: 1n, max: 4n }),
});

function headersFrom({ name, epoch, token }: Sent): HeaderGetter {
  const headers = new Headers(fencingHeaders({ name, token }, { epoch }));
  return (header) => headers.get(header);
}

/**
 * Creates a fake remote store of the largest tokens. The scheduler of the test delays each request and each
 * reply.
 */
function remote(scheduler: fc.Scheduler, maxima: Maxima = memoryMaxima()): Required<FencingGateOptions> {
  return {
    maxima: {
      async raise(resource, at) {
        await scheduler.schedule(Promise.resolve(), 'question');
        const reply = await maxima.raise(resource, at);
        await scheduler.schedule(Promise.resolve(), 'answer');
        return reply;
      },
    },
  };
}

describe('the fencing gate', () => {
  it('accepts exactly the requests whose token is at least as large as all earlier tokens of the resource', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sent), async (requests) => {
        const gate = createFencingGate();
        const largest = new Map<string, EpochToken>();
        for (const request of requests) {
          const known = largest.get(request.name);
          const older = known !== undefined && compareEpochTokens(request, known) < 0;
          if (!older) largest.set(request.name, { epoch: request.epoch, token: request.token });
          const reply = await gate.check(headersFrom(request));
          expect(reply).to.deep.include(
            older ? { outcome: 'refused', status: 412, largest: known } : { outcome: 'accepted', ...request },
          );
        }
      }),
    );
  });

  it('runs no effect of an earlier holder after or during an effect of a later holder', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.array(sent, { maxLength: 7 }), async (scheduler, requests) => {
        const gate = createFencingGate(remote(scheduler));
        const running = new Set<Sent>();
        const begun: Sent[] = [];
        const effect = async (request: Sent): Promise<void> => {
          for (const other of [...running, ...begun].filter(({ name }) => name === request.name)) {
            expect(compareEpochTokens(other, request)).to.be.at.most(0);
          }
          for (const other of [...running].filter(({ name }) => name === request.name)) {
            expect(compareEpochTokens(other, request)).to.equal(0);
          }
          begun.push(request);
          running.add(request);
          await scheduler.schedule(Promise.resolve(), 'effect');
          running.delete(request);
        };
        const replies = Promise.all(
          requests.map((request) => gate.run(headersFrom(request), () => effect(request))),
        );
        await scheduler.waitFor(replies);
        const accepted = (await replies).filter(({ outcome }) => outcome === 'accepted');
        expect(accepted).to.have.length(begun.length);
        for (const name of new Set(requests.map((request) => request.name))) {
          const [last] = requests
            .filter((request) => request.name === name)
            .sort((a, b) => compareEpochTokens(b, a));
          expect(begun.some((one) => one.name === name && compareEpochTokens(one, last!) === 0)).to.equal(
            true,
          );
        }
      }),
    );
  });

  it('runs the effect of the next holder after an effect has failed', async () => {
    const gate = createFencingGate();
    let fail!: (error: Error) => void;
    let first!: Promise<unknown>;
    await new Promise<void>((begun) => {
      first = gate.run(headersFrom({ name: 'a', epoch: 0, token: 1n }), () => {
        begun();
        return new Promise((_, reject) => (fail = reject));
      });
    });
    const second = gate.run(headersFrom({ name: 'a', epoch: 0, token: 2n }), () => 'done');
    fail(new Error('no disk'));
    expect(await first.catch(String)).to.equal('Error: no disk');
    expect(await second).to.deep.include({ outcome: 'accepted', value: 'done' });
  });

  it('rejects every request when the stored maximum of the tokens cannot be read', async () => {
    const gate = createFencingGate({ maxima: { raise: () => Promise.reject(new Error('no answer')) } });
    const header = headersFrom({ name: 'a', epoch: 0, token: 1n });
    expect(await gate.check(header).catch(String)).to.equal('Error: no answer');
    expect(await gate.run(header, () => expect.fail('it ran')).catch(String)).to.equal('Error: no answer');
  });

  it('refuses a request that names another lock than the one that guards the resource', async () => {
    const gate = createFencingGate();
    const reply = await gate.check(headersFrom({ name: 'b', epoch: 0, token: 1n }), { lock: 'a' });
    expect(reply).to.deep.include({ outcome: 'malformed', status: 400 });
  });

  it('returns a response for a refused Request, and undefined for an accepted one', async () => {
    const gate = createFencingGate();
    const post = (token?: bigint): Promise<Response | undefined> =>
      refuseRequest(
        gate,
        new Request('http://r/', {
          method: 'POST',
          ...(token && { headers: fencingHeaders({ name: 'a', token }) }),
        }),
      );
    expect(await post(2n)).to.equal(undefined);
    const stale = await post(1n);
    expect(stale?.status).to.equal(412);
    expect(stale?.headers.get('fencing-token')).to.equal('2');
    expect(await stale?.text()).to.equal(
      'the hold of "a" with token 1 is refused: a later holder of the lock sent a request before, with token 2\n',
    );
    expect((await post())?.status).to.equal(428);
  });
});

describe('the largest tokens of each resource (maxima) in memory', () => {
  it('are not stored for more resources than maxResources', () => {
    const maxima = memoryMaxima({ maxResources: 1 });
    maxima.raise('a', { epoch: 0, token: 2n });
    expect(() => maxima.raise('b', { epoch: 0, token: 1n })).to.throw(/UNAVAILABLE.*raise maxResources/);
    expect(maxima.raise('a', { epoch: 0, token: 1n })).to.deep.equal({ epoch: 0, token: 2n });
    maxima.forget('a');
    expect(maxima.raise('b', { epoch: 0, token: 1n })).to.deep.equal({ epoch: 0, token: 1n });
    expect(maxima.size).to.equal(1);
    expect(() => memoryMaxima({ maxResources: 0 })).to.throw(/maxResources is a whole number from 1; got 0/);
  });
});
