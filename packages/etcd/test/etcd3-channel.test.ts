import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import type { ILeaseKeepAliveRequest, ILeaseKeepAliveResponse } from '../src/protocol/messages.ts';
import { Failures, MemberCircuitBreaker } from '../src/driver/member-circuit-breaker.ts';
import { Etcd3Channel, type RawStream } from '../src/wire/etcd3-channel.ts';

type Stream = RawStream<ILeaseKeepAliveRequest, ILeaseKeepAliveResponse>;

/** A fake stream of npm etcd3 that records its calls. One of its methods may throw. */
class FakeStream {
  readonly calls: string[] = [];
  readonly events = new EventEmitter();
  readonly canceled: Promise<unknown> = once(this.events, 'canceled');
  readonly #throwing: string;

  constructor(throwing = '') {
    this.#throwing = throwing;
  }

  on(event: string, listener: () => void): void {
    this.#call('on');
    this.events.on(event, listener);
  }

  write(): void {
    this.#call('write');
  }

  end(): void {
    this.#call('end');
  }

  cancel(): void {
    this.#call('cancel');
    this.events.emit('canceled');
  }

  #call(method: string): void {
    this.calls.push(method);
    if (method === this.#throwing) throw new TypeError(`${method}() threw`);
  }
}

/** Opens a channel over the fake stream. `ended` resolves with the failure that the channel reports. */
function channelOver(stream: Promise<unknown>): {
  readonly channel: Etcd3Channel<ILeaseKeepAliveRequest, ILeaseKeepAliveResponse>;
  readonly ended: Promise<unknown>;
} {
  let onEnd: (error: unknown) => void = () => undefined;
  const ended = new Promise<unknown>((resolve) => (onEnd = resolve));
  const options = {
    host: 'member:2379',
    breaker: new MemberCircuitBreaker(new Failures()),
    clients: { failed: () => undefined },
    use: () => ({ etcd: {} as never, end: () => undefined }),
    open: () => stream as Promise<Stream>,
  };
  const listener = { onResponse: () => undefined, onEnd };
  return { channel: new Etcd3Channel(options, listener), ended };
}

describe('a misbehaving stream of npm etcd3, wrapped in a channel', () => {
  for (const value of [undefined, null, 'text', {}, { header: null }])
    it(`ends the channel when it delivers ${JSON.stringify(value)} instead of a response`, async () => {
      const stream = new FakeStream();
      const { ended } = channelOver(Promise.resolve(stream));
      await new Promise(setImmediate);
      stream.events.emit('data', value);
      const error = await ended;
      expect(error).to.have.property('code', 'UNAVAILABLE');
      expect(String(error)).to.include('member:2379: the client library returned');
      await stream.canceled;
    });

  for (const value of [undefined, 7, {}])
    it(`ends the channel when npm etcd3 returns ${JSON.stringify(value)} instead of a stream`, async () => {
      const { ended } = channelOver(Promise.resolve(value));
      const error = await ended;
      expect(error).to.be.instanceOf(TypeError);
    });

  it('ends the channel, and is canceled, when its method on() throws', async () => {
    const stream = new FakeStream('on');
    const { ended } = channelOver(Promise.resolve(stream));
    const error = await ended;
    expect(String(error)).to.equal('TypeError: on() threw');
    await stream.canceled;
  });

  it('ends the channel, and is canceled, when its method write() throws', async () => {
    const stream = new FakeStream('write');
    const { channel, ended } = channelOver(Promise.resolve(stream));
    channel.write({ ID: '1' });
    const error = await ended;
    expect(String(error)).to.equal('TypeError: write() threw');
    await stream.canceled;
  });

  it('is canceled when the channel is closed, even if its method end() throws', async () => {
    const stream = new FakeStream('end');
    const { channel } = channelOver(Promise.resolve(stream));
    channel.close();
    await stream.canceled;
    expect(stream.calls).to.include.members(['end', 'cancel']);
  });
});
