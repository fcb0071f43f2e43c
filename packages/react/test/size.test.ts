import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

describe('size of the React hooks', () => {
  it('is at most 3 KB minified and gzipped, without React and RxJS, as the README states', async () => {
    const { build } = await import('vite');
    const { NODE_ENV } = process.env;
    const result = await build({
      root: here('..'),
      configFile: false,
      logLevel: 'silent',
      build: {
        write: false,
        minify: true,
        lib: { entry: here('../src/index.ts'), formats: ['es'] },
        rolldownOptions: { external: /^(?!\.|\/)/ },
      },
    });
    // Restores NODE_ENV, because the build has set it to production, in which React cannot be tested.
    if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
    const [{ output }] = result as unknown as [{ output: readonly [{ code: string }] }];
    const bytes = gzipSync(output[0].code).length;
    expect(bytes).to.be.lessThanOrEqual(3_000);
    const printed = /\*\*([\d.]+) KB\*\*/.exec(readFileSync(here('../README.md'), 'utf8'))?.[1];
    expect(Number(printed)).to.be.closeTo(bytes / 1_000, 0.1);
  });
});
