import { expect } from 'chai';
import { NEVER } from 'rxjs';
import type { Connection } from '../src/session/connection.ts';
import { Keys } from '../src/queue/keys.ts';
import type { Script } from '../src/lua/script.ts';
import { RedisSession } from '../src/session/session.ts';
import type { Answer } from '../src/server/steps.ts';
import { admitted, newSpec } from '@queuelock/harness/specs';

/** A simulated connection. Each read waits for its reply until the test provides one. */
class Stage {
  readonly looks: ((rest: readonly unknown[]) => void)[] = [];
  readonly session: RedisSession;
  #calls = 0;

  constructor() {
    const connection = {
      doubts$: NEVER,
      keys: new Keys('test'),
      headLeases: { watch: () => undefined },
      settle: () => undefined,
      singleKeyFor: () => undefined,
      nextCall: () => (this.#calls += 1),
      steps: { take: (script: Script) => this.#respond(script) },
    };
    const tenancy = { id: 'a', generation: '1', ttlMs: 1_000, news: 0, inherited: new Set<string>() };
    this.session = new RedisSession(connection as unknown as Connection, tenancy);
  }

  #respond({ name }: Script): Promise<Answer> {
    if (name === 'enqueue') return Promise.resolve({ word: 'ok', rest: [['7', 0, 1, 0, -1]] });
    if (name !== 'look') throw new Error(`unexpected step ${name}`);
    return new Promise((resolve) => {
      this.looks.push((rest) => resolve({ word: 'ok', rest }));
    });
  }
}

describe('a Redis session that reads its entries', () => {
  it('reads again when another notification arrives during the read', async () => {
    const stage = new Stage();
    const { session } = stage;
    const spec = newSpec();
    const turn = admitted(await session.enqueue(spec));
    session.readState();
    // The second call of `readState` comes while a read is in progress. That read may have missed the latest
    // change, so another read must follow.
    session.readState();
    stage.looks.shift()!([0, 5, '7', 0, spec.id, spec.queue]);
    await new Promise(setImmediate);
    expect(stage.looks).to.have.length(1);
    stage.looks.shift()!([1, 5, '7', 1, spec.id, spec.queue]);
    await turn;
  });
});
