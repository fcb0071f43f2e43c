import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { oncePer } from '../src/index.ts';
import { MemoryStage } from './election-stage.ts';

type Example = (what: object) => void;

/** A clock that never advances, so that no minute ends between two runs. */
class Noon extends Date {
  static override now(): number {
    return Date.UTC(2026, 10, 24, 12);
  }
}

const README = new URL('../README.md', import.meta.url);

/**
 * Returns the example of a README section as a function. The names that the example uses without defining
 * them are its parameters.
 */
async function exampleOf(section: string, names: readonly string[]): Promise<Example> {
  const text = readFileSync(README, 'utf8').split(`\n## ${section}\n`)[1]!;
  const code = /```ts\n(.*?)```/s.exec(text)![1]!.replaceAll(/^import .*$/gm, '');
  const module = `export const example = ({ ${names.join(', ')} }) => {${code}}`;
  const { example } = (await import(`data:text/javascript,${encodeURIComponent(module)}`)) as {
    readonly example: Example;
  };
  return example;
}

describe('the cron example of the README', () => {
  it('sends one report for each time of the cron job with any number of instances', async () => {
    const example = await exampleOf('Once per slot', [
      'Date',
      'oncePer',
      'client',
      'cron',
      'sendReport',
      'shutdown',
      'log',
    ]);
    const stage = new MemoryStage();
    const ticks: (() => Promise<void>)[] = [];
    const sent: object[] = [];
    const logged: string[] = [];
    for (let i = 0; i < 3; i += 1)
      example({
        Date: Noon,
        oncePer,
        client: stage.client(),
        cron: { schedule: (_when: string, tick: () => Promise<void>) => ticks.push(tick) },
        sendReport: async (report: object) => sent.push(report),
        shutdown: new AbortController(),
        log: (line: string) => logged.push(line),
      });
    await Promise.all(ticks.map((tick) => tick()));
    expect(sent).to.have.lengthOf(1);
    expect(sent[0]).to.have.keys('minute', 'token', 'signal');
    expect(logged.sort().map((line) => line.replace(/, by .*/, ''))).to.deep.equal([
      'already-done',
      'already-done',
      'sent',
    ]);
    await stage.close();
  });
});
