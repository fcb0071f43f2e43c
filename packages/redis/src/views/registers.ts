import {
  checkedRegisterKind,
  checkedRegisterText,
  type Register,
  type Registers,
} from '@queuelock/core/backend';
import type { Connection } from '../session/connection.ts';
import { SCRIPTS } from '../queue/scripts.ts';

/** The registers of the store. An empty register uses no memory. */
export function registersOf(connection: () => Connection): Registers {
  const read = async (queue: string, kind: string): Promise<Register | undefined> => {
    const { rest } = await connection().steps.take(SCRIPTS.readRegister, queue, checkedRegisterKind(kind));
    const [, version = '', text = ''] =
      /^(\d+) (.*)$/s.exec(typeof rest[0] === 'string' ? rest[0] : '') ?? [];
    return version === '' ? undefined : { text, version };
  };
  return {
    read,
    async write(queue, kind, { text, was }) {
      const written = text === undefined ? ['0'] : ['1', checkedRegisterText(text)];
      const { rest } = await connection().steps.take(
        SCRIPTS.writeRegister,
        ...[queue, checkedRegisterKind(kind), was ?? '', ...written],
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
