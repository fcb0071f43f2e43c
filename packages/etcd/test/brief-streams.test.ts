import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import type { IWatchRequest, IWatchResponse } from '../src/protocol/messages.ts';
import { Connection } from '../src/server/connection.ts';
import type { Channel, ChannelListener, Driver } from '../src/driver/driver.ts';
import { checkOptions } from '../src/api/options.ts';
import { Watches } from '../src/server/watches.ts';

const FOR_MS = 1_500;
// Maximum number of streams that the client may open during the test. A client without backoff would open about 80.
const MOST = 20;

describe('a server that accepts watch streams and ends them immediately', () => {
  it('receives new streams from the client after growing delays', async () => {
    const streams: Channel<IWatchRequest>[] = [];
    const watch = (listener: ChannelListener<IWatchResponse>): Channel<IWatchRequest> => {
      const stream = streamThatEnds(listener);
      streams.push(stream);
      return stream;
    };
    const driver = { watch, close: ignore } as unknown as Driver;
    const connection = new Connection(checkOptions({ hosts: '127.0.0.1:1' }), () => driver);
    const watches = new Watches(connection, FOR_MS);
    const subscription = watches.watch({ key: Buffer.from('key') }).subscribe();
    await pause(FOR_MS);
    subscription.unsubscribe();
    watches.close();
    expect(streams).to.have.lengthOf.within(3, MOST);
  });
});

function streamThatEnds(listener: ChannelListener<IWatchResponse>): Channel<IWatchRequest> {
  const write = ({ create_request }: IWatchRequest): void => {
    const { watch_id } = create_request as { readonly watch_id: string };
    const created = { watch_id, created: true, canceled: false, events: [] };
    setImmediate(() => {
      listener.onResponse(created as unknown as IWatchResponse);
      listener.onEnd(new Error('14 UNAVAILABLE: etcdserver: no leader'));
    });
  };
  return { write, close: ignore, abandon: ignore };
}

function ignore(): void {
  // Does nothing, because each stream of this test ends by itself.
}
