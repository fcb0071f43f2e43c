import { expect } from 'chai';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { createLockClient, type LockClient } from '@queuelock/core';
import type { Backend } from '@queuelock/core/backend';
import { startConsul, type ConsulService } from '@queuelock/harness/services';
import { issueCertificates } from '@queuelock/harness/services/certificates';
import { startConsulProcess } from '@queuelock/harness/services/consul-process';
import { pickPorts } from '@queuelock/harness/services/ports';
import { until } from '@queuelock/harness/services/until';
import { admitted, refusal, signal, newSpec } from '@queuelock/harness/specs';
import { consul, fromUrl } from '@queuelock/consul';
import { optionsOf } from '../src/api/url.ts';

const MANAGEMENT = '7c1b9a66-0000-4000-8000-0a0b0c0d0e0f';
const TTL_MS = 20_000;

async function expectHandOff(one: Backend, other: Backend): Promise<void> {
  const [holder, waiter] = [await one.open(TTL_MS, signal), await other.open(TTL_MS, signal)];
  const held = newSpec();
  await holder.enqueue(held);
  const turn = admitted(await waiter.enqueue(newSpec()));
  await holder.remove('jobs', held.id);
  await turn;
  await Promise.all([holder.close(), waiter.close()]);
}

describe('access to a Consul with ACLs', function () {
  this.timeout(120_000);
  let server: ConsulService;
  const backends: Backend[] = [];

  before(async () => {
    const acl = { enabled: true, default_policy: 'deny', tokens: { master: MANAGEMENT } };
    server = await startConsul({ way: 'process', settings: { acl, primary_datacenter: 'dc1' } });
  });
  afterEach(() => Promise.all(backends.splice(0).map((backend) => backend.close())));
  after(() => server.stop());

  function connect(token?: string): Backend {
    const backend = consul({ hosts: server.endpoint, ...(token !== undefined && { token }) });
    backends.push(backend);
    return backend;
  }

  async function manage(path: string, body: object): Promise<Record<string, string>> {
    const response = await fetch(`http://${server.endpoint}/v1/acl/${path}`, {
      method: 'PUT',
      headers: { 'x-consul-token': MANAGEMENT },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
    return (await response.json()) as Record<string, string>;
  }

  async function tokenWith(name: string, rules: string): Promise<string> {
    const policy = await manage('policy', { Name: name, Rules: rules });
    const { SecretID = '' } = await manage('token', { Policies: [{ ID: policy['ID'] }] });
    return SecretID;
  }

  it('is possible with the ACL rules of the README', async () => {
    const rules = 'key_prefix "queuelock/" { policy = "write" } session_prefix "" { policy = "write" }';
    const token = await tokenWith('worker', rules);
    const byUrl = fromUrl(`consul://:${token}@${server.endpoint}`);
    backends.push(byUrl);
    await expectHandOff(connect(token), byUrl);
    const findings = await byUrl.diagnose!('');
    expect(findings.map(({ level }) => level)).to.not.include('error');
    expect(findings.map(({ text }) => text).join()).to.match(/may not read the agent/);
  });

  it('is refused without a token or with an insufficient one, and no message shows a token', async () => {
    const [noSessions, noKeys] = [
      await tokenWith('no-sessions', 'key_prefix "queuelock/" { policy = "write" }'),
      await tokenWith('no-keys', 'session_prefix "" { policy = "write" }'),
    ];
    const unknown = '11111111-2222-4333-8444-555555555555';
    for (const token of [undefined, unknown, noSessions, noKeys]) {
      const { code, message } = await refusal(connect(token).open(TTL_MS, signal));
      expect(code, message).to.equal('ACCESS_DENIED');
      if (token !== undefined) expect(message).to.not.include(token);
    }
  });

  it('when revoked during a hold, ends the hold before another client is granted the lock', async () => {
    const rules = 'key_prefix "queuelock/" { policy = "write" } session_prefix "" { policy = "write" }';
    const policy = await manage('policy', { Name: 'removed', Rules: rules });
    const { SecretID: token = '', AccessorID = '' } = await manage('token', {
      Policies: [{ ID: policy['ID'] }],
    });
    const ttlMs = 2_000;
    const [client, other] = [token, MANAGEMENT].map((own) =>
      createLockClient(consul({ hosts: server.endpoint, token: own, minTtlMs: 100 }), { ttlMs }),
    ) as [LockClient, LockClient];
    const ownership = await client.acquire('removed');
    const lost = once(ownership.signal, 'abort');
    const next = other.acquire('removed');
    await fetch(`http://${server.endpoint}/v1/acl/token/${AccessorID}`, {
      method: 'DELETE',
      headers: { 'x-consul-token': MANAGEMENT },
    });
    await Promise.race([lost, next]);
    expect(ownership.held, 'the hold has ended before the next one begins').to.equal(false);
    const reason = inspect(ownership.signal.reason);
    expect(reason).to.include('ACCESS_DENIED').and.to.not.include(token);
    await next;
    await Promise.all([client.close(), other.close()]);
  });

  it('when revoked for a while during a wait, does not end the wait', async () => {
    const rules = 'key_prefix "queuelock/" { policy = "write" } session_prefix "" { policy = "write" }';
    const policy = await manage('policy', { Name: 'lapse', Rules: rules });
    const { SecretID: token = '', AccessorID = '' } = await manage('token', {
      Policies: [{ ID: policy['ID'] }],
    });
    const holder = await connect(MANAGEMENT).open(TTL_MS, signal);
    const waiter = await connect(token).open(TTL_MS, signal);
    const held = newSpec();
    await holder.enqueue(held);
    const turn = admitted(await waiter.enqueue(newSpec()));
    await manage(`token/${AccessorID}`, { AccessorID, SecretID: token, Policies: [] });
    expect((await refusal(waiter.renew(signal))).code).to.equal('ACCESS_DENIED');
    await manage(`token/${AccessorID}`, { AccessorID, SecretID: token, Policies: [{ ID: policy['ID'] }] });
    const renewed = (): Promise<number> => waiter.renew(signal);
    await until(renewed, { what: 'the token is valid again', withinMs: 60_000 });
    await holder.remove('jobs', held.id);
    await turn;
  });
});

describe('access to a Consul over TLS', function () {
  this.timeout(120_000);

  it('is possible with a client certificate from options or from a URL', async function () {
    const certificates = await issueCertificates();
    if (!certificates) {
      this['skipReason'] = 'there is no openssl';
      return this.skip();
    }
    const folder = await mkdtemp(join(tmpdir(), 'queuelock-consul-tls-'));
    const { ca, server: identity, client } = certificates;
    const files = { ca, cert: client.cert, key: client.key, server: identity.cert, secret: identity.key };
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const [https = 0] = await pickPorts(1);
    const at = (name: string): string => join(folder, name);
    const requested = { ca_file: at('ca'), cert_file: at('server'), key_file: at('secret') };
    const service = await startConsulProcess({ ...requested, verify_incoming_https: true }, https);
    try {
      const url = `consuls://127.0.0.1:${https}?ca=${at('ca')}&cert=${at('cert')}&key=${at('key')}`;
      const [one, other] = [fromUrl(url), consul(optionsOf(url))];
      await expectHandOff(one, other);
      const stranger = consul({ hosts: `127.0.0.1:${https}`, tls: { ca } });
      expect((await refusal(stranger.open(TTL_MS, signal))).code).to.equal('UNAVAILABLE');
      const distrustful = consul({ hosts: `127.0.0.1:${https}`, tls: {} });
      expect((await refusal(distrustful.open(TTL_MS, signal))).message).to.match(/self.signed|certificate/);
      await Promise.all([one, other, stranger, distrustful].map((backend) => backend.close()));
    } finally {
      await service.stop();
      await rm(folder, { recursive: true });
    }
  });
});
