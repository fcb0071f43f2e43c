import { createLockClient } from '@queuelock/core';
import { createMemoryServer, memory } from '@queuelock/memory';
import { expect } from 'chai';
import { contend } from '../src/contend/contend.ts';
import type { ContendEvent } from '../src/contend/event.ts';
import { Link } from '../src/contend/link.ts';
import { createStamp } from '../src/stamp.ts';

describe('the rounds of a contender', () => {
  for (const keepsGoing of [true, false]) {
    it(`${keepsGoing ? 'continue' : 'end'} after a failed claim, ${keepsGoing ? 'with' : 'without'} the option keepsGoing`, async () => {
      const server = createMemoryServer();
      const link = new Link(() => undefined);
      link.cut();
      const client = createLockClient(link.wrap(memory({ server })), { connectTimeoutMs: 500 });
      const events: string[] = [];
      const emit = ({ n, ev }: ContendEvent): void => {
        events.push(`${String(n)} ${ev}`);
        if (ev === 'error') link.mend();
      };
      const contender = { client, name: 'q', id: 'me', holdMs: 0, stamp: createStamp(), emit };
      const rounds = contend(
        { ...contender, stop: new AbortController().signal },
        { count: 2, gapMs: 0, keepsGoing },
      );
      const ending = await rounds.catch((error: unknown) => (error as { code: string }).code);
      const served = ['2 requesting', '2 enqueued', '2 acquired', '2 released'];
      expect(events).to.deep.equal(['1 requesting', '1 error', ...(keepsGoing ? served : [])]);
      expect(ending).to.equal(keepsGoing ? 1 : 'UNAVAILABLE');
      await client.close();
      server.close();
    });
  }
});
