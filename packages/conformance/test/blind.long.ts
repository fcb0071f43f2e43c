import { conformanceTitles } from '@queuelock/conformance';
import { checkWith } from './defective.ts';
import { itFindsEveryDefect } from './sight.ts';

describe('conformance suite with long timeouts', () => {
  // Runs the suite with waits of up to a second, so that a stall of the machine is not mistaken for a defect.
  itFindsEveryDefect(1_000);

  it('passes on a backend without a defect, one fact after another', async () => {
    for (const title of conformanceTitles) {
      await checkWith(() => ({}), title, { ttlMs: 800 }).catch((cause: unknown) => {
        throw new Error(`fault found: ${title}`, { cause });
      });
    }
  });
});
