import { expect } from 'chai';
import type { ITxnRequest, ITxnResponse } from '../src/protocol/messages.ts';
import { until } from '@queuelock/harness/services/until';
import type { Connection, Request } from '../src/server/connection.ts';
import { Lookups } from '../src/server/lookups.ts';

describe('looks at keys', () => {
  let asked: number[];
  let answers: (() => void)[];
  let lookups: Lookups;

  beforeEach(() => {
    asked = [];
    answers = [];
    const txn = ({ success = [] }: ITxnRequest): Promise<ITxnResponse> => {
      asked.push(success.length);
      const responses = success.map(() => ({ response_range: { kvs: [] } }));
      return new Promise((resolve) =>
        answers.push(() => resolve({ header: { revision: '7' }, responses } as unknown as ITxnResponse)),
      );
    };
    const ask = (_: string, request: Request<unknown>): Promise<unknown> =>
      request({ txn } as unknown as Parameters<Request<unknown>>[0], { withinMs: 1_000 });
    lookups = new Lookups({ ask } as unknown as Connection);
  });

  const answerAll = async (): Promise<void> => {
    for (let answer = answers.shift(); answer; answer = answers.shift()) {
      answer();
      await new Promise(setImmediate);
    }
  };

  it('are sent together when they come while one is on its way, 64 at most', async () => {
    const seen = Array.from({ length: 100 }, (_, i) => lookups.look({ key: Buffer.from(String(i)) }));
    await answerAll();
    expect(asked).to.deep.equal([1, 64, 35]);
    expect(await Promise.all(seen)).to.deep.equal(Array(100).fill({ there: false, revision: 7n }));
  });

  it('are not sent for those who have left meanwhile', async () => {
    const key = Buffer.from('any');
    let isWanted = true;
    const leaver = { patient: true, isWanted: () => isWanted };
    void lookups.look({ key }, leaver);
    const stayed = lookups.look({ key }, { patient: true });
    isWanted = false;
    await until(() => (asked.length > 0 ? Promise.resolve() : Promise.reject(new Error('nothing asked'))), {
      what: 'a patient look is sent',
      withinMs: 5_000,
    });
    expect(asked).to.deep.equal([1]);
    isWanted = true;
    void lookups.look({ key }, leaver);
    isWanted = false;
    await answerAll();
    await stayed;
    void lookups.look({ key });
    expect(asked, 'those behind one that is on its way').to.deep.equal([1, 1]);
  });
});
