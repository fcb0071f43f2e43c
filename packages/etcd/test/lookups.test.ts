import { expect } from 'chai';
import type { ITxnRequest, ITxnResponse } from '../src/protocol/messages.ts';
import { until } from '@queuelock/harness/services/until';
import type { Connection, Request } from '../src/server/connection.ts';
import { Lookups } from '../src/server/lookups.ts';

describe('reads of keys in etcd', () => {
  let requested: number[];
  let replies: (() => void)[];
  let lookups: Lookups;

  beforeEach(() => {
    requested = [];
    replies = [];
    const txn = ({ success = [] }: ITxnRequest): Promise<ITxnResponse> => {
      requested.push(success.length);
      const responses = success.map(() => ({ response_range: { kvs: [] } }));
      return new Promise((resolve) =>
        replies.push(() => resolve({ header: { revision: '7' }, responses } as unknown as ITxnResponse)),
      );
    };
    const ask = (_: string, request: Request<unknown>): Promise<unknown> =>
      request({ txn } as unknown as Parameters<Request<unknown>>[0], { withinMs: 1_000 });
    lookups = new Lookups({ ask } as unknown as Connection);
  });

  const replyToAll = async (): Promise<void> => {
    for (let reply = replies.shift(); reply; reply = replies.shift()) {
      reply();
      await new Promise(setImmediate);
    }
  };

  it('form batches of up to 64 keys while another read is in flight', async () => {
    const seen = Array.from({ length: 100 }, (_, i) => lookups.read({ key: Buffer.from(String(i)) }));
    await replyToAll();
    expect(requested).to.deep.equal([1, 64, 35]);
    expect(await Promise.all(seen)).to.deep.equal(Array(100).fill({ exists: false, revision: 7n }));
  });

  it('are not sent for waiters that left the queue before the batch was sent', async () => {
    const key = Buffer.from('any');
    let isNeeded = true;
    const leaver = { mayWait: true, isNeeded: () => isNeeded };
    void lookups.read({ key }, leaver);
    const stayed = lookups.read({ key }, { mayWait: true });
    isNeeded = false;
    await until(
      () => (requested.length > 0 ? Promise.resolve() : Promise.reject(new Error('nothing asked'))),
      {
        what: 'a patient look is sent',
        withinMs: 5_000,
      },
    );
    expect(requested).to.deep.equal([1]);
    isNeeded = true;
    void lookups.read({ key }, leaver);
    isNeeded = false;
    await replyToAll();
    await stayed;
    void lookups.read({ key });
    expect(requested, 'those behind one that is on its way').to.deep.equal([1, 1]);
  });
});
