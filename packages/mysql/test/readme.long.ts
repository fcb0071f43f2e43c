import { expect } from 'chai';
import { firstExample, runExample } from '@queuelock/harness/readme';
import { OwnServer } from './servers.ts';

const PAGE = 'packages/mysql/README.md';

describe('the first example of the README of @queuelock/mysql', () => {
  const own = new OwnServer();

  it('runs unchanged', async () => {
    const example = firstExample(PAGE) ?? '';
    expect(example).to.contain('127.0.0.1:3306');
    const printed = await runExample(PAGE, example.replace(/mysql:[^']+/, own.url));
    expect(printed).to.match(/fencing token \d+, lost: false/);
  }).timeout(70_000);
});
