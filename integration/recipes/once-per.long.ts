import { createLockClient } from '@queuelock/core';
import { oncePer } from '@queuelock/recipes';
import { expect } from 'chai';
import { endScripts } from '@queuelock/harness/services/script-process';
import { stores } from '../scenarios/stores.ts';
import type { Site } from '../scenarios/store.ts';
import { untilNothingIsLeft } from '../scenarios/wait.ts';
import { SlotMember } from './slot-members.ts';

const MEMBERS = 4;
const ROUNDS = 4;
/**
 * For each slot in turn, what happens to the first process that begins its job. A frozen process resumes when
 * the job of the next slot is done.
 */
const FATES = ['lives', 'is killed', 'is frozen', 'lives'] as const;
type Fate = (typeof FATES)[number];

/** The processes that call the jobs of the slots. Each time all of them call the job of the same slot. */
class Crew {
  readonly everybody: SlotMember[] = [];
  readonly fates: Fate[] = [];
  #awake: SlotMember[] = [];
  #asleep: { readonly member: SlotMember; readonly slot: number } | undefined;
  readonly #hire: () => SlotMember;

  constructor(hire: () => SlotMember) {
    this.#hire = hire;
  }

  async play(slot: number, fate: Fate): Promise<void> {
    this.fates.push(fate);
    while (this.#awake.length + (this.#asleep ? 1 : 0) < MEMBERS) await this.#join();
    for (const member of this.#awake) member.order({ call: slot });
    const begun = this.#awake.map(async (member) => {
      await member.untilSlot('begun', slot);
      return member;
    });
    for (const one of begun) one.catch(() => undefined);
    const first = await Promise.any(begun);
    if (fate !== 'lives') this.#awake = this.#awake.filter((member) => member !== first);
    if (fate === 'is killed') await first.kill();
    if (fate === 'is frozen') await first.freeze();
    // If another process also begins the job of the slot, lets it finish at once.
    for (const one of begun)
      one.then((member) => member !== first && member.order({ go: slot })).catch(() => undefined);
    if (fate === 'lives') first.order({ go: slot });
    await Promise.all(this.#awake.map((member) => member.untilSlot('told', slot)));
    await this.#wake();
    if (fate === 'is frozen') this.#asleep = { member: first, slot };
  }

  count(ev: 'begun' | 'ended', slot: number): number {
    return this.everybody.flatMap(({ events }) => events).filter((one) => one.ev === ev && one.slot === slot)
      .length;
  }

  async #join(): Promise<void> {
    const member = this.#hire();
    this.everybody.push(member);
    await member.untilEvent('ready');
    this.#awake.push(member);
  }

  async #wake(): Promise<void> {
    const late = this.#asleep;
    if (!late) return;
    this.#asleep = undefined;
    await late.member.thaw();
    late.member.order({ go: late.slot });
    const { outcome } = await late.member.untilSlot('told', late.slot);
    expect(outcome, 'who was frozen').to.equal('OWNERSHIP_LOST');
    this.#awake.push(late.member);
  }
}

for (const store of stores) {
  describe(`oncePer in ${MEMBERS} processes over ${store.name}`, function () {
    this.timeout(300_000);
    let site: Site;

    before(async () => {
      site = await store.share('once per slot');
    });

    afterEach(endScripts);

    for (const promise of ['at-most-once', 'at-least-once'] as const) {
      it(`keeps the guarantee ${promise} when the worker of a slot is killed or frozen`, async () => {
        const name = `slots-${promise}`;
        const where = { url: site.url(), name, ttlMs: site.ttlMs };
        const crew = new Crew(() => new SlotMember(where, promise));
        const slots = ROUNDS * FATES.length;
        for (let slot = 1; slot <= slots; slot += 1) await crew.play(slot, FATES[(slot - 1) % FATES.length]!);
        const rows = crew.fates.map((fate, i) => ({
          slot: i + 1,
          'the first': fate,
          begun: crew.count('begun', i + 1),
          ended: crew.count('ended', i + 1),
        }));
        console.table(rows);
        for (const { 'the first': fate, begun, ended } of rows) {
          if (promise === 'at-most-once') {
            expect([fate, begun, ended]).to.deep.equal([fate, 1, fate === 'is killed' ? 0 : 1]);
          } else {
            const late = fate === 'is frozen' ? 1 : 0;
            expect([fate, begun, ended]).to.deep.equal([fate, fate === 'lives' ? 1 : 2, 1 + late]);
          }
        }
        await using client = createLockClient(site.backend());
        const once = oncePer(client, name);
        expect(await once.latest(), 'nobody wrote over it').to.include({ slot: String(slots) });
        await once.forget();
        await endScripts();
        await untilNothingIsLeft(site, name);
      });
    }
  });
}
