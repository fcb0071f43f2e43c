import { invalidArgument, type Register, type Registers } from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { SCRIPTS } from '../queue/scripts.ts';

const MAX_TEXT_BYTES = 4_096;

/** The registers of the store. An empty register uses no memory. */
export function registersOf(connection: () => Connection): Registers {
  const read = async (queue: string, kind: string): Promise<Register | undefined> => {
    const { rest } = await connection().steps.take(SCRIPTS.readRegister, queue, checkedKind(kind));
    const [, version = '', text = ''] =
      /^(\d+) (.*)$/s.exec(typeof rest[0] === 'string' ? rest[0] : '') ?? [];
    return version === '' ? undefined : { text, version };
  };
  return {
    read,
    async write(queue, kind, { text, was }) {
      const written = text === undefined ? ['0'] : ['1', checkedText(text)];
      const { rest } = await connection().steps.take(
        SCRIPTS.writeRegister,
        ...[queue, checkedKind(kind), was ?? '', ...written],
      );
      return rest[0] === 1;
    },
    observe: (queue, kind) =>
      connection().watch({
        channel: connection().keys.register(queue),
        read: () => read(queue, kind),
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
