import type { Actor } from './actor.ts';
import type { Deed } from './plan.ts';
import type { Program } from './program.ts';
import type { World } from './world.ts';

/** Executes an action of a history. Programs act on their machine, so not while that is frozen. */
export function perform(deed: Deed, actors: readonly Actor[], world: World): void {
  const { judge } = world;
  if ('which' in deed) {
    performByProgram(deed, world.programs.at(-1 - deed.which));
  } else if ('client' in deed) {
    const actor = actors[deed.client]!;
    if (deed.do !== 'claim') judge.note(JSON.stringify(deed));
    performByClient(deed, actor, world);
  } else {
    const entry = world.server.queues().get(deed.name)?.at(deed.place);
    if (!entry) return;
    judge.note(`${entry.key} is evicted`);
    world.ledger.evicted.add(entry.key);
    world.server.evict(entry.key);
  }
}

function performByProgram(deed: Extract<Deed, { which: number }>, program: Program | undefined): void {
  program?.claim.actor.machine.do(() => {
    if (deed.do === 'release') program.finish(deed.times);
    else program[deed.do]();
  });
}

function performByClient(
  deed: Extract<Deed, { client: number }>,
  actor: Actor,
  { server, ledger }: World,
): void {
  const { machine, network } = actor;
  switch (deed.do) {
    case 'claim':
      machine.do(() => void actor.program(deed).start());
      return;
    case 'close':
      machine.do(() => actor.close());
      return;
    case 'doubt':
      machine.do(() => actor.doubt());
      return;
    case 'freeze':
      machine.freeze(deed.ms);
      return;
    case 'cut':
      network.cut(deed.ms, deed.what);
      return;
    case 'deny':
      actor.deny(deed.name, deed.ms);
      return;
    case 'expire': {
      // Any of the sessions that are alive.
      const id = server.sessionIds[deed.client];
      if (id === undefined) return;
      ledger.ended.add(id);
      server.expireSession(id);
    }
  }
}
