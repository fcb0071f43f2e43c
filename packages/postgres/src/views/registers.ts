import { invalidArgument, type Registers } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { defer } from '../base/rx.ts';
import { storedText, textOf } from '../queue/text.ts';
import { registerOf } from './views.ts';

const MAX_TEXT_BYTES = 4_096;

/** The registers of the store. An empty register has no row. */
export function registersOf(connection: () => Connection): Registers {
  return {
    async read(queue, kind) {
      const { version, content } = await connection().steps.take<{
        readonly version: string | null;
        readonly content: string | null;
      }>('read_register', storedText(queue), checkedKind(kind));
      return version === null || content === null ? undefined : { text: textOf(content), version };
    },
    async write(queue, kind, { text, was = null }) {
      const content = text === undefined ? null : storedText(checkedText(text));
      if (was !== null && !/^\d{1,18}$/.test(was)) return false;
      const { done } = await connection().steps.take<{ readonly done: boolean }>(
        'write_register',
        ...[storedText(queue), checkedKind(kind), was, content],
      );
      return done;
    },
    observe: (queue, kind) =>
      defer(() => {
        checkedKind(kind);
        return connection().watchQueue(queue, { read: () => registerOf(connection(), queue, kind) });
      }),
  };
}

function checkedKind(kind: string): string {
  if (!/^[a-z]{1,16}$/.test(kind)) throw invalidArgument('kind', kind, 'is 1 to 16 letters from a to z');
  return kind;
}

function checkedText(text: string): string {
  if (Buffer.byteLength(text) > MAX_TEXT_BYTES)
    throw invalidArgument('text', text, `takes at most ${MAX_TEXT_BYTES} bytes of UTF-8`);
  return text;
}
