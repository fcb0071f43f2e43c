import { expect } from 'chai';
import { conformanceTitles } from '@queuelock/conformance';
import { defects } from './defects.ts';
import { checkWith } from './defective.ts';
import { itFindsEveryDefect } from './sight.ts';

describe('conformance suite', () => {
  // This timeout in milliseconds is long enough for a correct backend in this process, and short enough to expire a hundred times.
  itFindsEveryDefect(150);

  it('has a defect for every fact, which makes that fact fail', () => {
    const seen = new Set(defects.flatMap(([, , titles]) => titles));
    expect(conformanceTitles.filter((title) => !seen.has(title))).to.deep.equal([]);
  });

  it('passes a backend without a defect', async () => {
    // All facts run at the same time, so an expiry may be late.
    const pace = { ttlMs: 800, expiryGranularityMs: 8_000 };
    const failed = await Promise.all(
      conformanceTitles.map((title) =>
        checkWith(() => ({}), title, pace).then(
          () => [],
          () => [title],
        ),
      ),
    );
    // A process that stalls for most of a TTL loses its sessions. A wrong fact also fails when it is checked alone and with a longer TTL.
    for (const title of failed.flat())
      await checkWith(() => ({}), title, { ...pace, ttlMs: 4_000 }).catch((cause: unknown) => {
        throw new Error(`fault found: ${title}`, { cause });
      });
  });
});
