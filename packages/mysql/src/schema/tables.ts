const ID = 'char(32) character set ascii collate ascii_bin not null';
/**
 * The column type for names. Names are stored as bytes of UTF-8, so that names that differ only in case,
 * accents or trailing blanks stay different.
 */
const NAME = 'varbinary(512) not null';
const END = 'engine = InnoDB';

/**
 * Tables of the store. Times are of the server's clock, in UTC. The order number of an entry is at least the
 * microseconds since 1970 at its enqueue.
 *
 * - `queuelock_entry.news`: 1 when the entry was admitted after it had waited.
 * - `queuelock_queue.low` and `high`: smallest and largest limit of the entries that joined since the queue
 *   was last empty.
 * - `queuelock_removed`: ids of removed entries of a session. A late enqueue with such an id must add no entry.
 * - `queuelock_meta.floor`: lower bound for the order numbers of entries in a queue that is created again.
 */
export const TABLES: readonly string[] = [
  `create table if not exists queuelock_meta (
  id tinyint not null primary key,
  version int not null,
  floor bigint not null,
  tidied datetime(6) not null
) ${END}`,
  `create table if not exists queuelock_session (
  id ${ID} primary key,
  generation int not null,
  ttl bigint not null,
  expires datetime(6) not null,
  lost int not null,
  key ending (expires)
) ${END}`,
  `create table if not exists queuelock_queue (
  name ${NAME} primary key,
  last bigint not null,
  changes bigint not null,
  joined bigint not null,
  low int not null,
  high int not null
) ${END}`,
  `create table if not exists queuelock_entry (
  queue ${NAME},
  ord bigint not null,
  id ${ID},
  session ${ID},
  shared tinyint not null,
  lim int not null,
  permits int not null,
  admitted tinyint not null,
  news tinyint not null,
  value varbinary(2048) not null,
  primary key (queue, ord),
  unique key entry_id (session, id),
  key waiting (queue, admitted),
  key news (session, news)
) ${END}`,
  `create table if not exists queuelock_removed (
  session ${ID},
  id ${ID},
  primary key (session, id)
) ${END}`,
  `create table if not exists queuelock_trace (
  queue ${NAME},
  ord bigint not null,
  primary key (queue, ord)
) ${END}`,
  `create table if not exists queuelock_register (
  queue ${NAME},
  kind varchar(16) character set ascii collate ascii_bin not null,
  version char(24) character set ascii collate ascii_bin not null,
  text varbinary(4096) not null,
  primary key (queue, kind)
) ${END}`,
];
