import { expect } from 'chai';
import { filter, firstValueFrom } from 'rxjs';
import { election, type CandidatesState, type LeaderState, type Leadership } from '../../src/index.ts';
import type { Followed, RecipeFact, Site } from '../frame.ts';

/**
 * Returns the values of the leaders that an observer saw while it was up to date, with `-` for no leader.
 * Repeated states are left out.
 */
function story({ values }: Followed<LeaderState>): string[] {
  const seen = values.filter(({ status }) => status === 'live').map(({ leader }) => leader?.value ?? '-');
  return seen.filter((value, at) => value !== seen[at - 1]);
}

function observe(site: Site): Followed<LeaderState> {
  return site.follow(election(site.client(), site.queue, { value: 'observer' }).leader$);
}

async function untilObserved(site: Site, seen: Followed<LeaderState>, value: string): Promise<void> {
  await site.until(`the observer sees ${value}`, () => story(seen).at(-1) === value);
}

/** Creates a candidate with the given value. Resolves when the candidate is in the queue. */
async function candidateWith(site: Site, value: string): Promise<{ readonly elected: Promise<Leadership> }> {
  const client = site.client();
  const own = election(client, site.queue, { value });
  const elected = own.campaign();
  const { candidates$ } = own;
  const isListed = ({ candidates }: CandidatesState): boolean =>
    candidates.some((one) => one.value === value);
  await firstValueFrom(candidates$.pipe(filter(isListed)), { defaultValue: undefined });
  return { elected };
}

const leaders: RecipeFact = {
  title: 'candidates lead in the order of joining, and observers see each leader and each value once',
  async check(site) {
    const seen = observe(site);
    await untilObserved(site, seen, '-');
    const first = await election(site.client(), site.queue, { value: 'a, “ä”' }).campaign();
    await untilObserved(site, seen, 'a, “ä”');
    const next = await candidateWith(site, 'c');
    await first.proclaim('b');
    await untilObserved(site, seen, 'b');
    await first.resign();
    const second = await next.elected;
    await untilObserved(site, seen, 'c');
    expect(second.token > first.token).to.equal(true);
    await second.resign();
    await untilObserved(site, seen, '-');
    expect(story(seen)).to.deep.equal(['-', 'a, “ä”', 'b', 'c', '-']);
  },
};

const acrossDisconnect: RecipeFact = {
  title: 'an observer that was cut off shows the old leader as stale, and later the present one',
  async check(site) {
    const line = await site.line();
    const seen = site.follow(election(line.client(), site.queue, { value: 'observer' }).leader$);
    const own = election(site.client(), site.queue, { value: 'a' });
    for (const [ending, then] of [
      ['vacancy', '-'],
      ['a change', 'b'],
    ] as const) {
      const leadership = await own.campaign();
      await untilObserved(site, seen, 'a');
      line.cut();
      await site.until('it is stale', () => seen.last?.status === 'stale');
      expect(seen.last?.leader?.value, 'the last known').to.equal('a');
      await leadership.resign();
      const next =
        then === '-' ? undefined : await election(site.client(), site.queue, { value: then }).campaign();
      const before = seen.values.length;
      await line.mend();
      await untilObserved(site, seen, then);
      const live = seen.values.slice(before).filter(({ status }) => status === 'live');
      expect(
        live.map(({ leader }) => leader?.value ?? '-'),
        `after ${ending}`,
      ).to.deep.equal([then]);
      await next?.resign();
    }
  },
};

const cutOff: RecipeFact = {
  title: 'a leader that is cut off stops leading before the next one leads',
  async check(site) {
    const line = await site.line();
    const own = election(line.client({ ttlMs: site.ttlMs }), site.queue, { value: 'a' });
    const isLeader = site.follow(own.isLeader$);
    const candidacy = site.follow(own.candidacy$);
    await site.until('it leads', () => isLeader.last);
    const other = await candidateWith(site, 'b');
    const ledWhenFollowed = other.elected.then(() => isLeader.last);
    const candidates = site.follow(election(site.client(), site.queue, { value: 'observer' }).candidates$);
    line.cut();
    expect(await ledWhenFollowed).to.equal(false);
    await line.mend();
    await site.until('it stands again', () => candidates.last?.candidates.at(-1)?.value === 'a');
    expect(isLeader.last).to.equal(false);
    await (await other.elected).resign();
    await site.until('it leads again', () => isLeader.last);
    expect(isLeader.values).to.deep.equal([false, true, false, true]);
    candidacy.stop();
    expect(isLeader.last).to.equal(false);
  },
};

const leading: RecipeFact = {
  title: 'clients that call lead repeatedly take turns, and only one work runs at a time',
  async check(site) {
    const retiring = new AbortController();
    const served: string[] = [];
    const tokens: bigint[] = [];
    let working = 0;
    const led = ['a', 'b', 'c'].map((value) =>
      election(site.client(), site.queue, { value }).lead(
        async (leadership) => {
          expect(++working, 'works under way').to.equal(1);
          served.push(value);
          tokens.push(leadership.token);
          await leadership.proclaim(`${value}${served.length}`);
          if (served.length === 9) retiring.abort();
          leadership.throwIfLost();
          working -= 1;
        },
        { signal: retiring.signal },
      ),
    );
    await Promise.all(led);
    expect(served).to.have.lengthOf(9);
    expect(
      [...tokens].sort((a, b) => (a < b ? -1 : 1)),
      'tokens grow',
    ).to.deep.equal(tokens);
  },
};

const restarted: RecipeFact = {
  title: 'a leader that is restarted within the TTL continues with its entry',
  async check(site) {
    const seen = observe(site);
    await untilObserved(site, seen, '-');
    const before = site.client();
    const leadership = await election(before, site.queue, { value: 'before' }).campaign();
    const other = await candidateWith(site, 'rival');
    const resume = await before.exportSession();
    await untilObserved(site, seen, 'before');
    await before.abandon();
    const { id, token, order, key } = leadership;
    const after = site.client({ resume });
    const again = await election(after, site.queue, { value: 'after', id }).campaign();
    expect(again).to.include({ id, token, order, key, held: true });
    await untilObserved(site, seen, 'after');
    await again.resign();
    const next = await other.elected;
    // An observer may leave out states that lasted only a short time.
    await untilObserved(site, seen, 'rival');
    await next.resign();
    await untilObserved(site, seen, '-');
    expect(story(seen)).to.deep.equal(['-', 'before', 'after', 'rival', '-']);
  },
};

const tooLate: RecipeFact = {
  title: 'a leader that is restarted after the TTL joins at the end of the queue',
  async check(site) {
    const before = site.client({ ttlMs: site.ttlMs });
    const leadership = await election(before, site.queue, { value: 'before' }).campaign();
    const other = await candidateWith(site, 'rival');
    const resume = await before.exportSession();
    await before.abandon();
    const next = await other.elected;
    const { id } = leadership;
    const campaign = election(site.client({ resume }), site.queue, { value: 'after', id }).campaign();
    const candidates = site.follow(election(site.client(), site.queue, { value: 'observer' }).candidates$);
    await site.until('it stands behind', () =>
      expect(candidates.last?.candidates.map(({ value }) => value)).to.deep.equal(['rival', 'after']),
    );
    await next.resign();
    const again = await campaign;
    expect(again.token > next.token && next.token > leadership.token).to.equal(true);
    await again.resign();
  },
};

const resigned: RecipeFact = {
  title: 'a leader that resigned before its restart joins at the end of the queue',
  async check(site) {
    const before = site.client();
    const leadership = await election(before, site.queue, { value: 'before' }).campaign();
    const other = await candidateWith(site, 'rival');
    const resume = await before.exportSession();
    await leadership.resign();
    const next = await other.elected;
    await before.abandon();
    const { id } = leadership;
    const campaign = election(site.client({ resume }), site.queue, { value: 'after', id }).campaign();
    await next.resign();
    const again = await campaign;
    expect(again.token > next.token).to.equal(true);
    await again.resign();
  },
};

export const electionFacts: readonly RecipeFact[] = [
  leaders,
  acrossDisconnect,
  cutOff,
  leading,
  restarted,
  tooLate,
  resigned,
];
