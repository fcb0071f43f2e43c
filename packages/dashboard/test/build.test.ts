import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';

interface Built {
  readonly fileName: string;
  readonly code?: string;
  readonly source?: string | Uint8Array;
}

describe('the built page of the dashboard', () => {
  let files: ReadonlyMap<string, string>;

  before(async function () {
    this.timeout(60_000);
    const { build } = await import('vite');
    const { NODE_ENV } = process.env;
    const configFile = fileURLToPath(new URL('../vite.config.js', import.meta.url));
    const result = await build({ configFile, logLevel: 'silent', build: { write: false } });
    // Restores NODE_ENV. The build sets it to production, in which React cannot be tested.
    if (NODE_ENV === undefined) delete process.env['NODE_ENV'];
    const { output } = result as unknown as { output: readonly Built[] };
    files = new Map(
      output.map(({ fileName, code, source }) => [fileName, code ?? Buffer.from(source ?? '').toString()]),
    );
  });

  const html = (): string => files.get('index.html') ?? '';

  it('contains nothing that a strict content security policy blocks', () => {
    expect(html()).to.contain('<script type="module"');
    expect(html()).not.to.match(/<style|\sstyle=|\son\w+=|<script(?![^>]*\ssrc=)/);
  });

  it('loads nothing from other origins', () => {
    const addresses = [...html().matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address);
    expect(addresses).to.have.length.greaterThan(1);
    for (const address of addresses) expect(address).to.match(/^\.\//);
    const styles = [...files].filter(([name]) => name.endsWith('.css')).map(([, style]) => style);
    expect(styles.join('')).not.to.match(/@import|url\(/);
  });

  it('is at most 130 KB gzipped', () => {
    const bytes = [...files.values()].reduce((sum, file) => sum + gzipSync(file).length, 0);
    expect(bytes).to.be.within(50_000, 130_000);
  });
});
