import { checkedRegisterKind, checkedRegisterText, type Registers } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { defer } from '../base/rx.ts';
import { storedText, textOf } from '../queue/text.ts';
import { registerOf } from './views.ts';

/** The registers of the database. An empty register has no row. */
export function registersOf(connection: () => Connection): Registers {
  return {
    async read(queue, kind) {
      const { version, content } = await connection().steps.take<{
        readonly version: string | null;
        readonly content: string | null;
      }>('read_register', storedText(queue), checkedRegisterKind(kind));
      return version === null || content === null ? undefined : { text: textOf(content), version };
    },
    async write(queue, kind, { text, was = null }) {
      const content = text === undefined ? null : storedText(checkedRegisterText(text));
      if (was !== null && !/^\d{1,18}$/.test(was)) return false;
      const { done } = await connection().steps.take<{ readonly done: boolean }>(
        'write_register',
        ...[storedText(queue), checkedRegisterKind(kind), was, content],
      );
      return done;
    },
    observe: (queue, kind) =>
      defer(() => {
        checkedRegisterKind(kind);
        return connection().watchQueue(queue, { read: () => registerOf(connection(), queue, kind) });
      }),
  };
}
