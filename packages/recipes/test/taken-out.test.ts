import { expect } from 'chai';
import { cohort, doubleBarrier, election, type Leadership } from '../src/index.ts';
import { MemoryStage, failureOf } from './election-stage.ts';

describe('methods destructured from the result of a recipe', () => {
  let stage: MemoryStage;

  beforeEach(() => {
    stage = new MemoryStage();
  });
  afterEach(() => stage.close());

  it('work for a leadership: throwIfLost, proclaim and resign', async () => {
    const { clock } = stage;
    const office = election(stage.client(), 'x', { value: 'a', clock });
    const { throwIfLost, proclaim, resign } = await office.campaign();
    throwIfLost();
    await proclaim('b');
    expect(stage.values('x')).to.deep.equal(['b']);
    await resign();
    expect(() => throwIfLost()).to.throw('was released');
    const enough = new Error('enough');
    const work = ({ throwIfLost: check }: Leadership): never => {
      check();
      throw enough;
    };
    const led = office.lead(work, { signal: new AbortController().signal });
    expect(await failureOf(led)).to.equal(enough);
  });

  it('work for a hold of a cohort: throwIfLost and release', async () => {
    const { throwIfLost, release } = await cohort(stage.client(), 'x').acquire();
    throwIfLost();
    await release();
    expect(() => throwIfLost()).to.throw('was released');
  });

  it('work for a membership in a double barrier: leave', async () => {
    const { leave } = await doubleBarrier(stage.client(), 'x', { members: 1 }).enter();
    await leave();
    expect(stage.server.entryCount).to.equal(0);
  });
});
