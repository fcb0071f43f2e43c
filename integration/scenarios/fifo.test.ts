import { holdsOf, turnsOf, type HistoryEvent, type Hold } from '@queuelock/cli/src/demo/history.ts';
import { judge } from '@queuelock/cli/src/demo/judge.ts';
import { expect } from 'chai';
import { NotHere } from '../services/service.ts';
import { until } from '../services/until.ts';
import { endScripts } from './child-process.ts';
import { startContender } from './contenders.ts';
import { foreigners, type Foreigners } from './foreign.ts';
import { stores, type Site } from './stores.ts';

const PROCESSES = 8;
const ROUNDS = 200;
const OURS = { contenders: 4, rounds: 50, holdMs: 10 };
const THEIRS = { contenders: 4, rounds: 15 };

for (const store of stores) {
  describe(`a queue in ${store.name} with many processes`, function () {
    this.timeout(120_000);
    let site: Site;

    before(async () => {
      site = await store.share('first in, first out');
    });

    afterEach(endScripts);

    it(`grants ${ROUNDS} rounds of ${PROCESSES} processes in the server's order, one at a time`, async () => {
      const history = await contend(site, 'fifo', { contenders: PROCESSES, rounds: ROUNDS });
      expectServed(history, PROCESSES * ROUNDS);
      for (const { what, spoilt } of spoil(history)) {
        expect(judge(spoilt).violations, `${what} goes unnoticed`).to.not.be.empty;
      }
    });

    describe(`shared with ${foreigners[store.name]!.who}`, () => {
      let foreign: Foreigners | undefined;

      before(async function () {
        try {
          foreign = await foreigners[store.name]!.summon();
        } catch (error) {
          if (!(error instanceof NotHere)) throw error;
          this['skipReason'] = error.message;
          this.skip();
        }
      });

      after(() => foreign?.dismiss());

      it('keeps one order for both, and one holder at a time', async () => {
        // Nobody gets past before all of them stand in line: they take different times to start.
        const gatekeeper = startContender({ url: site.url(), name: 'mixed', id: 'gate', holdMs: 100_000 });
        await gatekeeper.untilEvent('acquired');
        const contending = Promise.all([
          foreign!.contend({ endpoint: site.endpoint, name: 'mixed', ...THEIRS }),
          contend(site, 'mixed', OURS),
        ]);
        const gathered = until(
          async () => {
            const { length } = await site.entries('mixed');
            expect(length).to.equal(1 + OURS.contenders + THEIRS.contenders);
          },
          { what: 'all stand in line', withinMs: 60_000 },
        );
        await Promise.race([gathered, contending]);
        await gatekeeper.stop();
        const histories = await contending;
        const holds = expectServed(
          histories.flat(),
          OURS.contenders * OURS.rounds + THEIRS.contenders * THEIRS.rounds,
        );
        // They did meet: the lock went from one kind to the other and back many times.
        const isOurs = holds.map(({ id }) => id.startsWith('ours-'));
        const changes = isOurs.filter((ours, i) => i > 0 && ours !== isOurs[i - 1]).length;
        expect(changes).to.be.at.least(THEIRS.rounds);
      });
    });
  });
}

/** Runs so many processes to their end; answers with the history of all. */
async function contend(
  site: Site,
  name: string,
  options: { contenders: number; rounds: number; holdMs?: number },
): Promise<HistoryEvent[]> {
  const contenders = Array.from({ length: options.contenders }, (_, i) =>
    startContender({ ...options, url: site.url(), name, id: `ours-${i + 1}` }),
  );
  const endings = await Promise.all(contenders.map(({ ended }) => ended));
  expect(endings).to.deep.equal(contenders.map(() => ({ code: 0, signal: null, stderr: '' })));
  return contenders.flatMap(({ events }) => events);
}

/** All promises are kept, and everybody who asked was granted and released; answers with the holds in their order. */
function expectServed(history: readonly HistoryEvent[], count: number): Hold[] {
  const { violations, grants, served } = judge(history);
  expect({ violations, grants, served }).to.deep.equal({ violations: [], grants: count, served: count });
  return holdsOf(turnsOf(history));
}

/** The same history with one thing wrong in its middle: what the judge is worth. */
function spoil(history: readonly HistoryEvent[]): { what: string; spoilt: HistoryEvent[] }[] {
  const holds = holdsOf(turnsOf(history));
  const [before, after] = holds.slice(holds.length / 2);
  const change = (hold: Hold, ev: HistoryEvent['ev'], to: Partial<HistoryEvent>): HistoryEvent[] =>
    history.map((event) =>
      event.id === hold.id && event.n === hold.n && event.ev === ev ? { ...event, ...to } : event,
    );
  const sameToken = { token: String(before!.order), zxid: String(before!.fencingToken) };
  return [
    {
      what: 'a release a nanosecond after the next grant',
      spoilt: change(before!, 'released', { t: String(after!.from + 1n) }),
    },
    {
      what: 'a grant ahead of the one before',
      spoilt: change(after!, 'acquired', { t: String(before!.from - 1n) }),
    },
    { what: 'a token given twice', spoilt: change(after!, 'acquired', sameToken) },
    {
      what: 'a request that was never granted',
      spoilt: history.filter(
        ({ id, n, ev }) => id !== after!.id || n !== after!.n || ev === 'requesting' || ev === 'enqueued',
      ),
    },
  ];
}
