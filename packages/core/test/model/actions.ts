import type { Actor } from './actor.ts';
import type { Action } from './plan.ts';
import type { Program } from './program.ts';
import type { World } from './world.ts';

/**
 * Executes an action of a history. A call of an application, such as a release, is made after the freeze if
 * the machine of its client is frozen. Other actions, such as evictions, happen at once.
 */
export function perform(action: Action, actors: readonly Actor[], world: World): void {
  const { judge } = world;
  if ('which' in action) {
    performByProgram(action, world.programs.at(-1 - action.which));
  } else if ('client' in action) {
    const actor = actors[action.client]!;
    if (action.do !== 'claim') judge.note(JSON.stringify(action));
    performByClient(action, actor, world);
  } else {
    const entry = world.server.queues().get(action.name)?.at(action.place);
    if (!entry) return;
    judge.note(`${entry.key} is evicted`);
    world.ledger.evicted.add(entry.key);
    world.server.evict(entry.key);
  }
}

function performByProgram(action: Extract<Action, { which: number }>, program: Program | undefined): void {
  program?.claim.actor.machine.do(() => {
    if (action.do === 'release') program.finish(action.times);
    else program[action.do]();
  });
}

function performByClient(
  action: Extract<Action, { client: number }>,
  actor: Actor,
  { server, ledger }: World,
): void {
  const { machine, network } = actor;
  switch (action.do) {
    case 'claim':
      machine.do(() => void actor.program(action).start());
      return;
    case 'close':
      machine.do(() => actor.close());
      return;
    case 'doubt':
      machine.do(() => actor.doubt());
      return;
    case 'freeze':
      machine.freeze(action.ms);
      return;
    case 'cut':
      network.cut(action.ms, action.what);
      return;
    case 'deny':
      actor.deny(action.name, action.ms);
      return;
    case 'expire': {
      // Ends the live session with the index `action.client`. The index counts the live sessions of the
      // server, so the session may belong to another client than the one with this index.
      const id = server.sessionIds[action.client];
      if (id === undefined) return;
      ledger.ended.add(id);
      server.expireSession(id);
    }
  }
}
