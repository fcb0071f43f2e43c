import { QueueLockError } from '@queuelock/core/backend';
import { expect } from 'chai';
import { RequestLimiter, type RequestLimitOptions } from '../src/server/request-limiter.ts';
import { eventually } from './clients.ts';

interface Sent {
  readonly name: string;
  readonly answer: () => void;
  readonly fail: (error: unknown) => void;
}

describe('the limit of concurrent requests of an etcd backend', () => {
  let lane: RequestLimiter;
  let sent: Sent[];
  let waiting: number;

  beforeEach(() => {
    lane = new RequestLimiter();
    sent = [];
    waiting = 0;
  });

  afterEach(() => {
    // Sends replies again and again until no request waits, because each reply lets another request be sent.
    const replyToAll = (): void => {
      for (const { answer } of sent.splice(0)) answer();
    };
    return eventually('all are answered', () => {
      replyToAll();
      return waiting === 0;
    });
  });

  const late = (): Error => new QueueLockError('UNAVAILABLE', 'not sent');

  function send(name: string, more: Partial<RequestLimitOptions> = {}): Promise<unknown> {
    const request = (): Promise<void> =>
      new Promise((answer, fail) => {
        sent.push({ name, answer, fail });
      });
    waiting += 1;
    return lane
      .send(request, { urgent: false, waitTimeoutMs: 10_000, timeoutError: late, ...more })
      .finally(() => {
        waiting -= 1;
      });
  }

  const names = (): string[] => sent.map(({ name }) => name);
  const all = (count: number, more: Partial<RequestLimitOptions> = {}): Promise<unknown>[] =>
    Array.from({ length: count }, (_, i) => send(String(i), more));

  it('allows 64 requests at the same time, then one more for each reply', async () => {
    const under = all(70);
    expect(names()).to.deep.equal(Array.from({ length: 64 }, (_, i) => String(i)));
    sent[3]!.answer();
    await under[3];
    sent[5]!.fail(new Error('no'));
    await under[5]!.catch(() => undefined);
    await eventually('two more are sent', () => sent.length === 66);
    expect(names().slice(64)).to.deep.equal(['64', '65']);
    for (let at = 0; at < 70; at += 1) {
      await eventually('it is sent', () => sent.length > at);
      sent[at]!.answer();
    }
    await Promise.allSettled(under);
    expect(sent).to.have.length(70);
    void send('next');
    expect(names().at(-1)).to.equal('next');
  });

  it('lets an urgent request pass all waiting requests', () => {
    void all(70);
    void send('heartbeat', { urgent: true });
    expect(names().at(-1)).to.equal('heartbeat');
    expect(sent).to.have.length(65);
  });

  it('rejects waiting requests when no reply arrives within their timeout', async () => {
    const under = all(66, { waitTimeoutMs: 80 });
    const failures = await Promise.all(under.slice(64).map((one) => one.catch((error: unknown) => error)));
    for (const failure of failures) expect(failure).to.include({ code: 'UNAVAILABLE' });
    expect(sent).to.have.length(64);
    void send('patient');
    sent[0]!.answer();
    await eventually('it is sent', () => names().at(-1) === 'patient');
    expect(sent).to.have.length(65);
  });

  it('does not reject a waiting request as long as replies to other requests arrive', async () => {
    const [longMs, waitTimeoutMs] = [400, 100];
    const under = all(64, { waitTimeoutMs: 10_000 });
    const last = send('last', { waitTimeoutMs });
    const stopped = last.catch((error: unknown) => error);
    const started = performance.now();
    // Each reply lets one more request be sent. The loop ends when the waiting request named `last` was sent.
    for (let at = 0; performance.now() - started < longMs; at += 1) {
      const [first] = sent.splice(0, 1);
      first!.answer();
      await under[at % 64];
      if (names().at(-1) === 'last') break;
    }
    await eventually('the last is sent', () => names().includes('last'));
    sent.find(({ name }) => name === 'last')!.answer();
    expect(await stopped).to.equal(undefined);
  });
});
