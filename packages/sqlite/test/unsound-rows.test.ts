import type { Backend } from '@queuelock/core/backend';
import { refusal, signal, newSpec } from '@queuelock/harness/specs';
import { expect } from 'chai';
import { firstValueFrom } from 'rxjs';
import { loadDriver } from '../src/driver/driver.ts';
import { Clients } from './clients.ts';

const { DatabaseSync } = await loadDriver();
const TOO_LARGE = '9223372036854775807';

describe('a row that no process of this library stores', () => {
  const clients = new Clients();

  /** Changes the lock file with SQL, as another program might. */
  function change(sql: string): void {
    const db = new DatabaseSync(clients.file);
    db.exec(sql);
    db.close();
  }

  async function observed(backend: Backend): Promise<unknown> {
    return firstValueFrom(backend.observe('jobs'));
  }

  const cases: Record<string, { readonly sql: string; readonly call: keyof typeof calls }> = {
    'a TTL that is too large': { sql: `update session set ttl = ${TOO_LARGE}`, call: 'resume' },
    'a generation that is too large': {
      sql: 'update session set generation = 9007199254740993',
      call: 'resume',
    },
    'a newest order that is too large': { sql: 'update boot set last = 9007199254740991', call: 'enqueue' },
    'a newest order below 0': { sql: 'update boot set last = -7', call: 'enqueue' },
    'an order that is too large': { sql: 'update entry set ord = 9007199254740993', call: 'observe' },
    'an order below 0': { sql: 'update entry set ord = -1', call: 'queues' },
    'a position that is too large': { sql: `update entry set nth = ${TOO_LARGE}`, call: 'enqueue' },
  };
  const calls = {
    resume: async (backend: Backend, resumption: string) => backend.resume?.(resumption, signal),
    enqueue: async (backend: Backend) => (await backend.open(10_000, signal)).enqueue(newSpec()),
    observe: observed,
    queues: async (backend: Backend) => firstValueFrom(backend.queues!('')),
  };
  for (const [what, { sql, call }] of Object.entries(cases)) {
    it(`is refused with an error that the file is damaged, for a row with ${what}`, async () => {
      const session = await clients.session();
      await session.enqueue(newSpec());
      const resumption = session.resumption ?? '';
      change(sql);
      const { code, message } = await refusal(calls[call](clients.connect(), resumption));
      expect(code).to.equal('INVALID_ARGUMENT');
      expect(message)
        .to.contain(clients.file)
        .and.match(/this one is damaged/);
    });
  }
});
