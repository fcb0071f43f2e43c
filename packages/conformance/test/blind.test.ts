import { expect } from 'chai';
import { conformanceTitles } from '@queuelock/conformance';
import { defects } from './defects.ts';
import { checkWith } from './defective.ts';
import { itFindsEveryDefect } from './sight.ts';

describe('conformance suite', () => {
  // Each check waits at most 150 ms for an event, which is enough for a correct backend in this process.
  // Longer waits would slow the test down, because a hundred defects show only as a timeout.
  itFindsEveryDefect(150);

  it('has at least one seeded defect for every fact, which makes that fact fail', () => {
    const seen = new Set(defects.flatMap(([, , titles]) => titles));
    expect(conformanceTitles.filter((title) => !seen.has(title))).to.deep.equal([]);
  });

  it('passes on a backend without a defect', async () => {
    // All facts are checked at the same time, so an expiry may be late.
    const pace = { ttlMs: 800, expiryGranularityMs: 8_000 };
    const failed = await Promise.all(
      conformanceTitles.map((title) =>
        checkWith(() => ({}), title, pace).then(
          () => [],
          () => [title],
        ),
      ),
    );
    // A process that stalls for most of a TTL loses its sessions, so a fact may fail although the backend has
    // no defect. Each failed fact is therefore checked once more, alone and with a longer TTL.
    for (const title of failed.flat())
      await checkWith(() => ({}), title, { ...pace, ttlMs: 4_000 }).catch((cause: unknown) => {
        throw new Error(`fault found: ${title}`, { cause });
      });
  });
});
