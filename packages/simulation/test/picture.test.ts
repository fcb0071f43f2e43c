import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { SafetyViolation } from '@queuelock/harness/safety';
import { alteredProduct } from './altered-product.ts';
import { goesWell } from './goes-well.ts';
import { MUTANTS } from './mutants.ts';

/**
 * Seed of a simulated run in which the mutant `the end of a session ends no holds` breaks a rule. The
 * smallest run that was found for it has two clients, of which one is frozen while it holds.
 */
const SEED = 143;

describe('the picture of a run that breaks a rule', () => {
  const out = mkdtempSync(join(tmpdir(), 'queuelock-picture-'));
  let story = '';
  let svg = '';

  before(async function () {
    this.timeout(300_000);
    const mutant = MUTANTS.etcd.find(({ what }) => what === 'the end of a session ends no holds');
    const altered = await alteredProduct(mutant!.alterations);
    const failure = await goesWell(altered, { seed: SEED, store: 'etcd', out }).catch(
      (error: unknown) => error,
    );
    expect(failure).to.be.instanceOf(SafetyViolation);
    story = String(failure);
    svg = readFileSync(join(out, `etcd-${SEED}.svg`), 'utf8');
  });

  after(() => rmSync(out, { recursive: true }));

  const found = (pattern: RegExp): string[] => Array.from(svg.matchAll(pattern), ([, what]) => what ?? '');

  it('is named by its path in the log of the run', () => {
    expect(story).to.contain(join(out, `etcd-${SEED}.svg`));
    expect(svg).to.match(/^<svg [^]*<\/svg>\n$/);
  });

  it('has a row for each client that remains in the shortened run', () => {
    expect(found(/class="lane">([^<]+)</g)).to.deep.equal(['c1', 'c4']);
  });

  it('has a bar for each hold, with its token', () => {
    expect(found(/class="token">([^<]+)</g)).to.have.members(['2', '3']);
  });

  it('shows faults as shaded areas with their names', () => {
    expect(found(/class="faultname">([^<]+)</g)).to.deep.equal(['1 client pauses (c1)']);
    expect(found(/class="(still)"><title>frozen/g)).to.have.length(1);
  });

  it('marks the violation, and outlines the two holds that overlap', () => {
    expect(found(/class="wrongname"[^>]*>([^<]+)</g)).to.deep.equal([
      'exclusive [1]',
      '[1] exclusive: c4x1 and c1x1 (2) at once, which is held again after its time',
    ]);
    expect(found(/class="(wrongbar)"/g)).to.have.length(2);
  });
});
