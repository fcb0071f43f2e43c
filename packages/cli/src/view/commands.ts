import type { Command } from '@commander-js/extra-typings';
import { addAsk } from '../commands/ask.ts';
import { addDeadlocks } from '../commands/deadlocks.ts';
import { addDoctor } from '../commands/doctor.ts';
import { addHistory } from '../commands/history.ts';
import { addKick } from '../commands/kick.ts';
import { addLs } from '../commands/ls.ts';
import { addTop } from '../commands/top.ts';
import { addUi } from '../commands/ui.ts';
import { addWatch } from '../commands/watch.ts';
import { addWho } from '../commands/who.ts';

/** Adds the commands that look at queues, and those of operators. */
export function addViews(program: Command): void {
  for (const add of [
    addLs,
    addWho,
    addWatch,
    addTop,
    addUi,
    addHistory,
    addKick,
    addAsk,
    addDeadlocks,
    addDoctor,
  ])
    add(program);
}
