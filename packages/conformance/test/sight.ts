import { expect } from 'chai';
import { defects } from './defects.ts';
import { checkWith, type Defect } from './defective.ts';

// TTLs in milliseconds. If the machine stalls for a large part of a TTL, the check of a fact may miss a
// defect of the backend. So the check is repeated with a longer TTL.
const TTLS_MS = [80, 300, 900];
// Number of defects that are checked at the same time. Most of the time a check waits for a timeout.
const LANES = 4;

/** Resolves with whether the check of this fact fails on a backend with this defect. */
async function seesFault(title: string, defect: Defect, timeoutMs: number): Promise<boolean> {
  for (const ttlMs of TTLS_MS) {
    const passed = checkWith(defect, title, { timeoutMs, ttlMs }).then(
      () => true,
      () => false,
    );
    if (!(await passed)) return true;
  }
  return false;
}

/** Defines one test for each defect. Several defects are checked at the same time. */
export function itFindsEveryDefect(maxWaitMs: number): void {
  const missed = new Map<string, Promise<readonly string[]>>();

  before(() => {
    const lanes = Array.from({ length: LANES }, () => Promise.resolve<unknown>(undefined));
    for (const [place, [what, defect, titles]] of defects.entries()) {
      const read = async (): Promise<readonly string[]> => {
        const seen = await Promise.all(titles.map((title) => seesFault(title, defect, maxWaitMs)));
        return titles.filter((_title, at) => !seen[at]);
      };
      const found = lanes[place % LANES]!.then(read);
      lanes[place % LANES] = found.catch(() => undefined);
      missed.set(what, found);
    }
  });

  for (const [what] of defects) {
    it(`reports the defect of a backend that ${what}`, async () => {
      expect(await missed.get(what)).to.deep.equal([]);
    });
  }
}
