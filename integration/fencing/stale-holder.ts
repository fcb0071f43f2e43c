import { fileURLToPath } from 'node:url';
import { safely } from '@queuelock/conformance';
import { createLockClient } from '@queuelock/core';
import { expect } from 'chai';
import { ScriptProcess } from '@queuelock/harness/services/script-process';
import { scriptOf } from '@queuelock/harness/services/script';
import type { Site } from '../scenarios/store.ts';
import { resourceOf } from './writer.ts';
import type { Answer, ResourceKind } from './resource.ts';

const SCRIPT = fileURLToPath(new URL('stale-writer.ts', import.meta.url));

/** Setup of a process that writes as a stale holder (`stale-writer.ts`): the JSON in its argument. */
export interface StaleWriterSetup {
  readonly url: string;
  readonly name: string;
  readonly ttlMs: number;
  readonly kind: ResourceKind;
  readonly place: string;
}

/** A line of output of a process that writes as a stale holder (`stale-writer.ts`). */
export type StaleWriterEvent =
  | { readonly ev: 'holds'; readonly token: string; readonly fenced: Answer; readonly unfenced: Answer }
  | { readonly ev: 'wrote'; readonly fenced: Answer; readonly unfenced: Answer };

/**
 * Checks that a fence rejects the writes of a stale holder. A process holds, writes, and is stopped for
 * longer than its TTL. The next process holds and writes. The first process resumes and sends the writes that
 * it had prepared. The fenced write is rejected, so the second process's text stays. The unfenced write
 * overwrites the text.
 */
export async function expectStaleHolderRefused(
  site: Site,
  { kind, place, name }: Pick<StaleWriterSetup, 'kind' | 'place' | 'name'>,
): Promise<void> {
  const { ttlMs } = site;
  const resource = await resourceOf(kind);
  const setup: StaleWriterSetup = { url: site.url(), name, ttlMs, kind, place };
  const stale = new ScriptProcess<StaleWriterEvent>(scriptOf(SCRIPT), [JSON.stringify(setup)]);
  const first = await stale.until(({ ev }) => ev === 'holds');
  expect(first).to.deep.include({ fenced: 'accepted', unfenced: 'accepted' });
  await stale.freeze();

  const client = createLockClient(site.backend());
  try {
    const ownership = await client.acquire(name);
    const writer = await resource.open(place, ownership);
    expect([await writer.fenced('next'), await writer.unfenced('next')]).to.deep.equal([
      'accepted',
      'accepted',
    ]);
    expect(await resource.texts(place)).to.deep.equal({ fenced: 'next', unfenced: 'next' });

    stale.tell({ do: 'write' });
    await stale.thaw();
    const late = await stale.until(({ ev }) => ev === 'wrote');
    const { fenced, unfenced } = await resource.texts(place);
    safely(() => expect([late.fenced, fenced]).to.deep.equal(['refused', 'next']));
    expect([late.unfenced, unfenced]).to.deep.equal(['accepted', 'late']);

    expect(await writer.fenced('again')).to.equal('accepted');
    await writer.close();
  } finally {
    await Promise.all([client.close(), stale.kill()]);
  }
}
