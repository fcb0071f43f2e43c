const ID = 'char(32) character set ascii collate ascii_bin not null';
/** Names are bytes of UTF-8: whatever differs is another one, case, accents and trailing blanks included. */
const NAME = 'varbinary(512) not null';
const END = 'engine = InnoDB';

/**
 * Times are the server's, in UTC. Orders are microseconds since 1970 at least. `queuelock_entry.news`: it was admitted after it had
 * waited. `queuelock_queue.low` and `high`: the limits of those in it, since it was empty. `queuelock_removed`: entries of a session that
 * are never to be there. `queuelock_meta.floor`: no order of a queue that is made anew is smaller.
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
  inherited bigint not null,
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
