import { expect } from 'chai';
import { consulOutcome, heldInConsul } from '../src/index.ts';

const hold = { key: 'queuelock/queues/jobs/7587a1', token: 42n };
const gone = { OpIndex: 0, What: 'key "queuelock/queues/jobs/7587a1" doesn\'t exist' };

describe('a check of the hold in a transaction of Consul', () => {
  it('is an operation that reads the key of the entry', () => {
    expect(heldInConsul(hold)).to.deep.equal({ KV: { Verb: 'get', Key: 'queuelock/queues/jobs/7587a1' } });
    expect(() => heldInConsul({ ...hold, key: '' })).to.throw(/key is the key of the entry/);
    expect(() => heldInConsul({ ...hold, token: 0n })).to.throw(/token is a bigint from 1/);
  });

  it('distinguishes a response that refuses the hold from one that accepts it', async () => {
    expect(await consulOutcome(hold, { Errors: null })).to.deep.equal({ outcome: 'accepted' });
    const refused = await consulOutcome(hold, Promise.resolve({ Errors: [gone] }));
    expect(refused.outcome).to.equal('refused');
  });

  it('rejects a response with an error that is not about the hold', async () => {
    const stale = { OpIndex: 1, What: 'failed to set key "x", index is stale' };
    for (const response of [{ Errors: [stale] }, { Errors: 'no' }, {}, 'text', undefined]) {
      const refusal = await consulOutcome(hold, response as never).catch((error: unknown) => error);
      expect(refusal, JSON.stringify(response)).to.have.property('code', 'INVALID_ARGUMENT');
    }
  });
});
