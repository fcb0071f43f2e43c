import { QueueLockError } from '@queuelock/core/backend';
import { expect } from 'chai';
import { Batcher, isRefusalOfOne, refuseTooLarge } from '../src/base/batcher.ts';

/**
 * Requests to a batcher, and the batches that it has sent. The test replies to them. Requests are named `<kind><number>`; a request with `?` is sent
 * at the end of a tick at the earliest.
 */
class Requests {
  readonly sent: string[] = [];
  readonly #replies: (() => void)[] = [];
  readonly gatherer = new Batcher<string, string>({
    maxSize: 3,
    kindOf: ([kind = '']) => kind,
    isIndependent: (item) => !item.includes('?'),
    send: (items) => {
      this.sent.push(items.join(' '));
      const replied = new Promise<void>((resolve) => this.#replies.push(resolve));
      return items.map(async (item) => {
        await replied;
        if (item.endsWith('!')) throw new Error(item);
        return item.toUpperCase();
      });
    },
  });

  add(...items: readonly string[]): Promise<PromiseSettledResult<string>[]> {
    return Promise.allSettled(items.map((item) => this.gatherer.add(item)));
  }

  answer(): void {
    this.#replies.shift()?.();
  }
}

const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('batching of requests', () => {
  let requests: Requests;
  beforeEach(() => {
    requests = new Requests();
  });

  it('sends all requests of one tick as one batch', async () => {
    void requests.add('a1');
    void Promise.resolve().then(() => requests.add('b1'));
    expect(requests.sent).to.deep.equal([]);
    await nextTurn();
    expect(requests.sent).to.deep.equal(['a1 b1']);
    void requests.add('c1');
    await nextTurn();
    expect(requests.sent).to.deep.equal(['a1 b1', 'c1']);
  });

  it('sends a single request immediately if it does not depend on another request', async () => {
    void requests.add('a1');
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    expect(requests.sent).to.deep.equal(['a1']);
    requests.answer();
    await nextTurn();
    void requests.add('b1?');
    for (let i = 0; i < 5; i += 1) await Promise.resolve();
    void requests.add('c1');
    expect(requests.sent).to.deep.equal(['a1']);
    await nextTurn();
    expect(requests.sent).to.deep.equal(['a1', 'b1? c1']);
  });

  it('puts at most one request of each kind into a batch, up to the maximum size', async () => {
    void requests.add('a1', 'a2', 'b1', 'c1', 'd1', 'a3');
    await nextTurn();
    expect(requests.sent).to.deep.equal(['a1 b1 c1', 'd1 a2', 'a3']);
  });

  it('delays the requests of later ticks while four batches are in flight', async () => {
    for (const item of ['a1', 'b1', 'c1', 'd1', 'e1', 'f1']) {
      void requests.add(item);
      await nextTurn();
    }
    expect(requests.sent).to.deep.equal(['a1', 'b1', 'c1', 'd1']);
    requests.answer();
    await nextTurn();
    expect(requests.sent.slice(4)).to.deep.equal(['e1 f1']);
  });

  it('keeps at most 12 requests of one kind in flight, the number that four full batches contain', async () => {
    void requests.add(...Array.from({ length: 30 }, (_, i) => `a${i}`));
    await nextTurn();
    expect(requests.sent).to.have.length(12);
    requests.answer();
    await nextTurn();
    expect(requests.sent).to.have.length(13);
  });

  it('sends four full batches at once, and further requests only after replies', async () => {
    void requests.add(...Array.from('abcdefghijklmnopqr', (kind) => `${kind}1`));
    await nextTurn();
    expect(requests.sent).to.have.length(4);
    requests.answer();
    await nextTurn();
    expect(requests.sent).to.have.length(5);
  });

  it('settles each request with its own result or error', async () => {
    const replies = requests.add('a1', 'b!', 'c1');
    await nextTurn();
    requests.answer();
    expect((await replies).map((one) => (one.status === 'fulfilled' ? one.value : 'failed'))).to.deep.equal([
      'A1',
      'failed',
      'C1',
    ]);
  });

  it('treats a batch as refused when it exceeds a limit of the server', () => {
    const thrown = (message: string): unknown => {
      try {
        return refuseTooLarge(new Error(message));
      } catch (error) {
        return error;
      }
    };
    for (const message of [
      'etcdserver: too many operations in txn request',
      'etcdserver: request is too large',
      'the member responded with HTTP status 413',
    ])
      expect(isRefusalOfOne(thrown(message))).to.equal(true);
    expect(isRefusalOfOne(thrown('etcdserver: request timed out'))).to.equal(false);
    expect(isRefusalOfOne(new QueueLockError('SESSION_LOST', 'for all'))).to.equal(false);
  });
});
