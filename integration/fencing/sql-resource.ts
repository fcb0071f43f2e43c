import { fencedUpdate, sqlOutcome } from '@queuelock/fencing';
import { queryBy, type Database } from './databases.ts';
import { responseOf, type Resource } from './resource.ts';

/** Statements that create the table, with one row for fenced writes and one for unfenced writes. */
export const SQL_TABLE = [
  'CREATE TABLE texts (id varchar(20) PRIMARY KEY, text varchar(20), fence bigint NOT NULL DEFAULT 0)',
  `INSERT INTO texts (id) VALUES ('fenced')`,
  `INSERT INTO texts (id) VALUES ('unfenced')`,
] as const;

/** The resource of the fencing tests in a database: one row written with a fence, and one without. */
export function sqlResource(database: Database): Resource {
  return {
    async open(place, hold) {
      const connection = await database.connect(place);
      return {
        async fenced(text) {
          const update = { table: 'texts', set: { text }, where: { id: 'fenced' }, hold };
          return responseOf(sqlOutcome(queryBy(connection), fencedUpdate(database.dialect, update)));
        },
        async unfenced(text) {
          await connection.exec(`UPDATE texts SET text = '${text}' WHERE id = 'unfenced'`);
          return 'accepted';
        },
        close: () => connection.close(),
      };
    },
    async texts(place) {
      const connection = await database.connect(place);
      const rows = await connection.rows({ text: 'SELECT id, text FROM texts', values: [] });
      await connection.close();
      const textOf = (id: string): string => String(rows.find((row) => row['id'] === id)?.['text']);
      return { fenced: textOf('fenced'), unfenced: textOf('unfenced') };
    },
  };
}
