import { virtualClock } from '@queuelock/memory';
import { expect } from 'chai';
import * as v from 'valibot';
import { createBridgeClient } from '../src/client.ts';
import { WIRE_VERSION, helloSchema, joinResponseSchema } from '../src/wire.ts';

const HELLO = { version: WIRE_VERSION, epoch: 'e', now: 1, heartbeatMs: 5_000 };

describe('intervals that a bridge sends to a page', () => {
  for (const ms of [0, -1, 49, 800_000_001, 1e308])
    it(`are refused when they are so short that the page stays busy, or too long for its timers (${ms} ms)`, () => {
      expect(v.is(helloSchema, { ...HELLO, heartbeatMs: ms })).to.equal(false);
      expect(v.is(joinResponseSchema, { id: 'a', secret: 'b', graceMs: ms })).to.equal(false);
    });

  it("are accepted from the shortest to the longest value that the bridge's options allow", () => {
    for (const ms of [50, 5_000, 800_000_000]) {
      expect(v.is(helloSchema, { ...HELLO, heartbeatMs: ms })).to.equal(true);
      expect(v.is(joinResponseSchema, { id: 'a', secret: 'b', graceMs: ms })).to.equal(true);
    }
  });

  it('are named in the error of a page whose stream receives no data for too long', async () => {
    const clock = virtualClock();
    const body = `event: hello\ndata: ${JSON.stringify(HELLO)}\n\n`;
    const silent = (): Promise<Response> => {
      const stream = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new TextEncoder().encode(body)),
      });
      return Promise.resolve(new Response(stream));
    };
    const page = createBridgeClient({ url: 'http://bridge/queuelock', fetch: silent, clock });
    const messages: (string | undefined)[] = [];
    page.connection$.subscribe(({ error }) => messages.push(error?.message));
    page.queue('jobs').subscribe();
    await clock.advance(20_000);
    expect(messages.join()).to.match(/the bridge sent no data for 12500 ms/);
    page.close();
  });
});
