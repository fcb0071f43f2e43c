import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { expect } from 'chai';
import { Cli, runCli } from './cli-process.ts';

interface Facts {
  readonly storeLabel: string;
  readonly identity: string;
  readonly token: string;
  readonly may: object;
}

describe('queuelock ui', () => {
  const clis: Cli[] = [];
  let url: string;
  let readOnlyUrl: string;

  async function urlOf(...args: readonly string[]): Promise<string> {
    const cli = new Cli(['ui', '--backend', 'memory:', '--port', '0', '--json', ...args]);
    clis.push(cli);
    while (!cli.stdout.includes('\n')) await once(cli.child.stdout!, 'data');
    return (JSON.parse(cli.stdout) as { url: string }).url;
  }
  before(async () => {
    [url, readOnlyUrl] = await Promise.all([urlOf(), urlOf('--read-only')]);
  });
  after(async () => {
    for (const cli of clis) {
      cli.child.kill('SIGTERM');
      expect(await cli.ending).to.include({ code: 143, stderr: '' });
    }
  });

  it('serves a page that runs only its own files, on the loopback interface', async () => {
    expect(url).to.match(/^http:\/\/127\.0\.0\.1:\d+$/);
    const index = await fetch(`${url}/`);
    const html = await index.text();
    expect(index.headers.get('content-security-policy')).to.match(
      /^default-src 'none'; script-src 'self'; style-src 'self';/,
    );
    expect(html).to.not.match(/<script(?![^>]*\ssrc=)|style=|\son\w+=|https?:\/\//);
    const assets = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(
      ([, path = '']) => new URL(path, index.url),
    );
    expect(assets).to.not.be.empty;
    for (const asset of assets) {
      const response = await fetch(asset);
      expect([response.status, response.headers.get('x-content-type-options')]).to.deep.equal([
        200,
        'nosniff',
      ]);
    }
  });

  it('serves no files other than those of the page', async () => {
    for (const path of [
      '/nothing',
      '/../package.json',
      '/%2e%2e/package.json',
      '/assets/',
      '/assets/..%2findex.html',
    ])
      expect((await fetch(url + path)).status, path).to.equal(404);
    expect((await fetch(`${url}/`, { method: 'POST' })).status).to.equal(404);
  });

  it('serves nothing to a request with a foreign host name', async () => {
    for (const [host, status] of [
      ['rebound.example', 403],
      ['localhost', 200],
    ] as const) {
      const requesting = request(url, { headers: { host } }).end();
      const [response] = (await once(requesting, 'response')) as [IncomingMessage];
      response.resume();
      expect(response.statusCode, host).to.equal(status);
    }
  });

  it('connects the page to a bridge, which names the user as the operator of evictions', async () => {
    const facts = (await (await fetch(`${url}/queuelock/v2/facts`)).json()) as Facts;
    expect(facts.storeLabel).to.match(/^memory:/);
    expect(facts.identity).to.not.equal('');
    expect(facts.may).to.deep.equal({ evict: true, ask: true, join: true });
  });

  it('permits no changes with the option --read-only', async () => {
    const { may, token } = (await (await fetch(`${readOnlyUrl}/queuelock/v2/facts`)).json()) as Facts;
    expect(may).to.deep.equal({ evict: false, ask: false, join: false });
    const response = await fetch(`${readOnlyUrl}/queuelock/v2/joins`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'queuelock-token': token },
      body: '{"name":"q"}',
    });
    expect(response.status).to.equal(403);
  });

  it('names the port that is in use in its error', async () => {
    const { port } = new URL(url);
    const second = await runCli(['ui', '--backend', 'memory:', '--port', port]);
    expect(second.code).to.equal(1);
    expect(second.stderr).to.equal(
      `queuelock: port ${port} is in use; choose another one with --port, or 0 for any\n`,
    );
  });
});
