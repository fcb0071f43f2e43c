import { expect } from 'chai';
import { defects } from './defects.ts';
import { checkWith, type Defect } from './defective.ts';

// A machine that stands still for a good part of a time to live hides what is wrong with it: then a longer one is looked at.
const TTLS_MS = [80, 300, 900];
// Most of the time they wait in vain.
const LANES = 4;

/** Whether the suite finds fault with that backend on account of that fact. */
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

/** A test for each defect; several are looked for at a time. */
export function itFindsEveryDefect(patienceMs: number): void {
  const overlooked = new Map<string, Promise<readonly string[]>>();

  before(() => {
    const lanes = Array.from({ length: LANES }, () => Promise.resolve<unknown>(undefined));
    for (const [place, [what, defect, titles]] of defects.entries()) {
      const look = async (): Promise<readonly string[]> => {
        const seen = await Promise.all(titles.map((title) => seesFault(title, defect, patienceMs)));
        return titles.filter((_title, at) => !seen[at]);
      };
      const found = lanes[place % LANES]!.then(look);
      lanes[place % LANES] = found.catch(() => undefined);
      overlooked.set(what, found);
    }
  });

  for (const [what] of defects) {
    it(`it finds a backend that ${what}`, async () => {
      expect(await overlooked.get(what)).to.deep.equal([]);
    });
  }
}
