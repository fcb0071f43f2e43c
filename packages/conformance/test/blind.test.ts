import { expect } from 'chai';
import { conformanceTitles, facts, type BackendHarness } from '@queuelock/conformance';
import { defects } from './defects.ts';
import { harnessWith } from './defective.ts';

// Long enough for a sound backend in this process, short enough to wait in vain a hundred times.
const PATIENCE_MS = 150;

/** Whether the suite finds fault with that backend on account of that fact. */
async function seesFault(title: string, harness: BackendHarness): Promise<boolean> {
  const fact = facts.find((candidate) => candidate.title === title);
  if (!fact) throw new Error(`no fact has the title ${title}`);
  return fact.check(harness).then(
    () => false,
    () => true,
  );
}

describe('the suite is not blind', () => {
  for (const [what, defect, titles] of defects) {
    it(`it finds a backend that ${what}`, async () => {
      const seen = await Promise.all(
        titles.map((title) => seesFault(title, harnessWith(defect, PATIENCE_MS))),
      );
      expect(titles.filter((_title, place) => !seen[place])).to.deep.equal([]);
    });
  }

  it('every fact has a defect that it finds', () => {
    const seen = new Set(defects.flatMap(([, , titles]) => titles));
    expect(conformanceTitles.filter((title) => !seen.has(title))).to.deep.equal([]);
  });

  it('it finds no fault with the same backend without a defect', async () => {
    for (const fact of facts) {
      await fact.check(harnessWith(() => ({}), 10_000)).catch((cause: unknown) => {
        throw new Error(`fault found: ${fact.title}`, { cause });
      });
    }
  });
});
