/**
 * Tables of the store. Names, values and texts contain `\` as `\\`, and the character 0, which PostgreSQL
 * cannot store, as `\0`. Times are of the server's clock. The number of an entry is both its order number and
 * its fencing token.
 */
export const TABLES = `
create table queuelock.store (
  format integer not null,
  floor bigint not null -- no number up to here is given again, in queues that are not stored any more
);
insert into queuelock.store values (1, 0);

create table queuelock.queue ( -- a row is the lock of its queue: steps on one queue come one after the other
  name text collate "C" primary key,
  last bigint not null, -- the newest number, at least microseconds since 1970
  joined bigint not null, -- how many have ever joined
  watched timestamptz not null -- until then observers are notified of changes
) with (fillfactor = 50);

create table queuelock.session (
  num bigint generated always as identity primary key,
  id text collate "C" not null unique,
  generation integer not null, -- another one whenever another process goes on with it
  ttl interval not null,
  expires timestamptz not null,
  inbox text collate "C" not null -- the channel on which its process listens; empty: it does not
) with (fillfactor = 50);
create index session_expires on queuelock.session (expires);

create table queuelock.entry (
  queue text collate "C" not null,
  ord bigint not null,
  session bigint not null,
  id text collate "C" not null,
  shared boolean not null,
  lim bigint not null,
  permits bigint not null,
  admitted boolean not null,
  value text not null,
  primary key (queue, ord),
  unique (session, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000);
create index entry_waiting on queuelock.entry (queue, ord) where not admitted;
create index entry_limit on queuelock.entry (queue, lim) where not admitted and lim > 1;

create table queuelock.removed ( -- entries that are never to enter, though a late request may still ask for it
  session bigint not null,
  id text collate "C" not null,
  primary key (session, id)
);

create table queuelock.trace ( -- entries whose holds have begun and not ended by a removal
  queue text collate "C" not null,
  ord bigint not null,
  primary key (queue, ord)
);

create table queuelock.register (
  queue text collate "C" not null,
  kind text collate "C" not null,
  version bigint not null,
  content text not null,
  primary key (queue, kind)
);
`;
