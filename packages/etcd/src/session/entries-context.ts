import type { NamingOf, SingleKeyOf } from '../api/naming.ts';
import type { Connection } from '../server/connection.ts';
import type { RemovalTools } from '../turn/watch-removal.ts';

/** The parts of the backend that the entries of a session use, such as the connection, the prefix of keys and the naming of queues. */
export interface EntriesContext extends RemovalTools {
  readonly connection: Connection;
  readonly prefix: string;
  readonly singleKeyOf?: SingleKeyOf | undefined;
  readonly namingOf: NamingOf;
  /** A text that identifies this process in the store. */
  readonly owner: string;
}
