import { expect } from 'chai';
import { conformanceTitles } from '@queuelock/conformance';
import { defects } from './defects.ts';
import { checkWith } from './defective.ts';
import { itFindsEveryDefect } from './sight.ts';

describe('conformance suite', () => {
  // Long enough for a correct backend in this process, and short enough to time out a hundred times.
  itFindsEveryDefect(150);

  it('has a defect for every fact that fails it', () => {
    const seen = new Set(defects.flatMap(([, , titles]) => titles));
    expect(conformanceTitles.filter((title) => !seen.has(title))).to.deep.equal([]);
  });

  it('passes the same backend without a defect', async () => {
    // All facts run at the same time, so an expiry may be late.
    const pace = { ttlMs: 800, expiryGranularityMs: 8_000 };
    const checks = conformanceTitles.map((title) =>
      checkWith(() => ({}), title, pace).catch((cause: unknown) => {
        throw new Error(`fault found: ${title}`, { cause });
      }),
    );
    await Promise.all(checks);
  });
});
