import { expect } from 'chai';
import { runHere } from './program.ts';
import { blocksOf } from './scratch.ts';
import { Tasks } from './examples.ts';

describe('the programs of EXAMPLES.md', () => {
  let tasks: Tasks;

  beforeEach(() => {
    tasks = new Tasks();
  });

  afterEach(() => tasks.end());

  it('position.ts shows waiters how their position decreases', async () => {
    const output = await runHere(tasks.write('position.ts'));
    expect(output).to.match(/number 1 in the queue/);
    expect(output).to.match(/number 2 in the queue/);
    expect(output).to.match(/Ann bakes\n(.*\n)*Ben bakes\n(.*\n)*Cid bakes\n(.*\n)*and then/);
    expect(output).to.match(/in the queue, about 1 s\n/);
  });

  for (const [file, lines] of [
    ['migrate.ts', /^migrating\nran\n$/],
    ['jobs.ts', /^(job \d is done\n){3}\[ 'done', 'done', 'done' \]\n$/],
    ['skip.ts', /^cleaning up\n$/],
    ['config.ts', /^Ann reads\nBen reads\none writes\n$/],
    ['transfer.ts', /^from account\/1 to account\/2\nfrom account\/2 to account\/1\n$/],
    ['one.mjs', /^mine, token \d+n\n$/],
  ] as const) {
    it(`${file} runs to its end`, async () => {
      expect(await runHere(tasks.write(file))).to.match(lines);
    });
  }

  it('order.ts prints what the page states', async () => {
    expect(await runHere(tasks.write('order.ts'))).to.equal(
      blocksOf('EXAMPLES').find(({ file }) => file === 'order.ts')!.prints,
    );
  });

  it('one.cjs can be required by CommonJS', async () => {
    const program = tasks.start('one.cjs');
    expect(await program.end()).to.deep.equal({ code: 0, signal: null });
    expect([program.output, program.stderr]).to.deep.equal(['mine, token 1n\n', '']);
  });
});
