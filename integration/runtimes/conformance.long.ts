import { expect } from 'chai';
import { join } from 'node:path';
import { facts } from '@queuelock/conformance';
import { Installation, link } from '../packed/installation.ts';
import { ROOT } from '../pages/scratch.ts';
import { OperatorService } from './operator.ts';
import { runJob, writeProgram, type Report } from './run-job.ts';
import { RUNTIMES } from './runtimes.ts';
import { STORES, type Site } from './servers.ts';
import { cellOf, documentedCell } from './table.ts';

describe('the packed packages on each runtime', function () {
  this.timeout(600_000);
  let installation: Installation;
  let program: string;
  before(async () => {
    installation = await Installation.of([
      'core',
      'conformance',
      ...new Set(STORES.map((one) => one.package)),
    ]);
    await link(installation.directory, 'etcd3', join(ROOT, 'packages/etcd'));
    await link(installation.directory, '@photostructure/sqlite', join(ROOT, 'packages/sqlite'));
    program = await writeProgram(installation.directory);
  });
  after(() => installation.remove());

  for (const store of STORES) {
    describe(`over ${store.name}`, () => {
      let site: Site;
      let operator: OperatorService;
      before(async () => {
        site = await store.start();
        operator = await OperatorService.start(site);
      });
      after(async () => {
        operator.stop();
        await site.stop();
      });

      for (const runtime of RUNTIMES)
        it(`pass the conformance suite on ${runtime.name} or refuse to run, as documented`, async () => {
          const report: Report = await runJob(runtime, program, { ...site.job, operator: operator.url });
          const failures = report.outcomes.filter(({ failure }) => failure !== undefined);
          expect(failures.map(({ title, failure }) => `${title}: ${String(failure)}`)).to.deep.equal([]);
          if (report.refusal === undefined) expect(report.outcomes).to.have.length(facts.length);
          expect(cellOf(report)).to.equal(documentedCell(store.name, runtime));
        });
    });
  }
});
