import { expectAccepted, fencingHeaders, httpOutcome } from '@queuelock/fencing';
import { expect } from 'chai';
import { startReceiver, type HttpReceiver } from './http-resource.ts';

const LOCK = 'fenced/http é';

describe('an HTTP receiver with a fence', () => {
  let receiver: HttpReceiver;

  beforeEach(async () => {
    receiver = await startReceiver(LOCK);
  });

  afterEach(async () => {
    await receiver.stop();
  });

  it('responds 412 to a smaller token, 400 to malformed headers, and 428 to missing headers', async () => {
    const put = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${receiver.place}/fenced`, { method: 'PUT', body: 'x', headers });
    const of = (token: bigint, epoch = 0): Record<string, string> =>
      fencingHeaders({ name: LOCK, token }, { epoch });
    expect((await put(of(7n))).status).to.equal(204);
    const hold = { name: LOCK, token: 6n };
    const late = await expectAccepted(httpOutcome(hold, put(fencingHeaders(hold)))).catch(String);
    expect(late).to.match(/OWNERSHIP_LOST.*"fenced\/http é" with token 6 is refused .* with token 7$/);
    const stale = await put(of(6n));
    expect([stale.status, stale.headers.get('fencing-token')]).to.deep.equal([412, '7']);
    expect((await put(of(1n, 1))).status).to.equal(204);
    expect((await put(of(8n))).status).to.equal(412);
    expect((await put({ ...of(9n), 'fencing-token': '9, 9' })).status).to.equal(400);
    expect((await put(fencingHeaders({ name: 'another', token: 9n }))).status).to.equal(400);
    expect((await put({})).status).to.equal(428);
  });
});
