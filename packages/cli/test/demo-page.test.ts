import { expect } from 'chai';
import { runCli } from './cli-process.ts';

describe('the page of queuelock demo', () => {
  it('is not available for a store in memory', async () => {
    const { code, stderr } = await runCli(['demo', '--backend', 'memory:', '--page']);
    expect(code).to.equal(2);
    expect(stderr).to.match(/^queuelock: the contenders of the page are processes, .*omit --page\n$/);
  });
});
