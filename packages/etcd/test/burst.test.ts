import type { Session } from '@queuelock/core/backend';
import type { EtcdOptions } from '@queuelock/etcd';
import { expect } from 'chai';
import { startTimeout } from '../src/base/timeout.ts';
import { SharedTimeout } from '../src/base/shared-timeout.ts';
import { Clients, eventually, freshQueue, newSpec } from './clients.ts';
import { OwnServer } from './own-server.ts';

const neverAborted = new AbortController().signal;

function blockLoop(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

describe('many concurrent requests to etcd', () => {
  const own = new OwnServer();
  const clients = new Clients();

  afterEach(() => clients.close());

  const open = (more: EtcdOptions = {}): Promise<Session> =>
    clients.session({ hosts: own.server.endpoint, heartbeatProof: 'verified', ...more });

  it('all succeed even if together they take longer than the timeout of a request', async function () {
    this.timeout(120_000);
    const session = await open({ requestTimeoutMs: 1_500 });
    // Sends a first heartbeat, which opens the stream of heartbeats, before thousands of requests are in flight.
    await session.renew(neverAborted);
    const parent = freshQueue();
    let placement = 0;
    const entering = Array.from({ length: 3_000 }, (_, i) =>
      session.enqueue(newSpec(`${parent}/${i}`)).then(() => (placement += 1)),
    );
    await session.renew(neverAborted);
    expect(placement, 'at the heartbeat').to.be.lessThan(1_500);
    await Promise.all(entering);
    expect(await own.operator.keysUnder(`${parent}/`)).to.have.length(3_000);
  });

  it('are not sent if the caller removes the entries before the enqueues are sent', async () => {
    const session = await open();
    const parent = freshQueue();
    const specs = Array.from({ length: 200 }, (_, i) => newSpec(`${parent}/${i}`));
    const entering = Promise.allSettled(specs.map((one) => session.enqueue(one)));
    await Promise.all(specs.map(({ queue, id }) => session.remove(queue, id)));
    const codes = (await entering).map(
      (one) => one.status === 'rejected' && (one.reason as { code: string }).code,
    );
    expect(codes).to.deep.equal(Array.from({ length: 200 }, () => 'ENTRY_LOST'));
    expect(await own.operator.keysUnder(`${parent}/`)).to.deep.equal([]);
    expect(await own.operator.keysUnder(`.queuelock/${session.id}`), 'its generation').to.deep.equal([]);
  });

  it('do not time out while the event loop of this process is blocked', async () => {
    const session = await clients.session({ hosts: own.server.endpoint, requestTimeoutMs: 1_000 });
    const entering = [session.enqueue(newSpec(freshQueue())), session.enqueue(newSpec(freshQueue()))];
    blockLoop(1_500);
    for (const { turn } of await Promise.all(entering)) expect(turn.admitted).to.equal(true);
  });

  it('time out after the request timeout, unless that timeout was canceled', async () => {
    const started = performance.now();
    await new Promise<void>((resolve) => startTimeout(200, resolve));
    expect(performance.now() - started).to.be.at.least(195);
    const cancel = startTimeout(50, () => expect.fail('it was canceled'));
    cancel();
    await new Promise<void>((resolve) => startTimeout(100, resolve));
  });

  it('share one timer, and each of them times out after its own time', async () => {
    const timeout = new SharedTimeout(160);
    const begun: number[] = [];
    const took: number[] = [];
    const task = (resolve: () => void): void => {
      const at = begun.push(performance.now()) - 1;
      const timedOut = (): void => {
        took[at] = performance.now() - (begun[at] ?? 0);
        resolve();
      };
      timeout.start({ timedOut, partPassed: () => undefined });
    };
    const cancelled = { timedOut: () => expect.fail('it was canceled'), partPassed: () => undefined };
    timeout.start(cancelled);
    timeout.cancel(cancelled);
    const first = new Promise<void>(task);
    await new Promise<void>((resolve) => startTimeout(60, resolve));
    await Promise.all([first, new Promise<void>(task)]);
    // Starts one more timeout after all earlier ones have ended, to check that the shared timer starts again.
    await new Promise<void>(task);
    for (const ms of took) expect(ms).to.be.at.least(155);
    expect(took).to.have.length(3);
  });

  it('do not time out by a shared timer while the event loop of this process is blocked', async () => {
    const timeout = new SharedTimeout(80);
    let isOver = false;
    timeout.start({ timedOut: () => void (isOver = true), partPassed: () => undefined });
    blockLoop(400);
    // After the event loop was blocked, Node runs timers before it reads data. So `SharedTimeout` must not time out yet, since a reply may be unread.
    await new Promise((resolve) => setImmediate(resolve));
    expect(isOver).to.equal(false);
    await eventually('the time is over', () => isOver);
  });
});
