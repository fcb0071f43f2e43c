import { expect } from 'chai';
import { startContender, type ContenderProcess } from './contenders.ts';
import type { OwnSite } from './store.ts';
import { safeVerdict } from './verdict.ts';
import { untilNothingIsLeft } from './wait.ts';

/**
 * Starts a holder and two waiters, each in its own process, and makes an outage. Expects that all are granted
 * in order, and that no entry is left.
 */
export async function expectAllServedAfter(
  outage: () => Promise<void>,
  { site, name }: { readonly site: OwnSite; readonly name: string },
): Promise<void> {
  const enter = async (id: string): Promise<ContenderProcess> => {
    const contender = startContender({ url: site.url(), name, id, holdMs: id === 'holder' ? 600_000 : 0 });
    await contender.untilEvent('enqueued');
    return contender;
  };
  const holder = await enter('holder');
  const line = [holder, ...(await Promise.all(['first', 'second'].map(enter)))];
  await outage();
  await holder.stop();
  await Promise.all(line.map(({ ended }) => ended));
  const { violations, served } = safeVerdict(line.flatMap(({ events }) => events));
  expect({ violations, served }).to.deep.equal({ violations: [], served: line.length });
  await untilNothingIsLeft(site, name);
}
