import { expect } from 'chai';
import { firstExample, runExample } from '@queuelock/harness/readme';
import { OwnServer } from './servers.ts';

const PAGE = 'packages/postgres/README.md';

describe('the first example of the README of @queuelock/postgres', () => {
  const own = new OwnServer();

  it('runs unchanged', async () => {
    const example = firstExample(PAGE) ?? '';
    expect(example).to.contain('127.0.0.1:5432');
    const printed = await runExample(PAGE, example.replaceAll('127.0.0.1:5432', own.server.endpoint));
    expect(printed).to.match(/fencing token \d+, lost: false/);
  }).timeout(70_000);
});
