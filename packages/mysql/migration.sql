-- The tables and procedures of queuelock, for `mysql` and `mariadb` on the database that its clients name.
-- Those need no more than: grant select, insert, update, delete, execute on that database.* to them.
delimiter //
create table if not exists queuelock_meta (
  id tinyint not null primary key,
  version int not null,
  floor bigint not null,
  tidied datetime(6) not null
) engine = InnoDB //
create table if not exists queuelock_session (
  id char(32) character set ascii collate ascii_bin not null primary key,
  generation int not null,
  ttl bigint not null,
  expires datetime(6) not null,
  lost int not null,
  key ending (expires)
) engine = InnoDB //
create table if not exists queuelock_queue (
  name varbinary(512) not null primary key,
  last bigint not null,
  changes bigint not null,
  joined bigint not null,
  low int not null,
  high int not null
) engine = InnoDB //
create table if not exists queuelock_entry (
  queue varbinary(512) not null,
  ord bigint not null,
  id char(32) character set ascii collate ascii_bin not null,
  session char(32) character set ascii collate ascii_bin not null,
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
) engine = InnoDB //
create table if not exists queuelock_removed (
  session char(32) character set ascii collate ascii_bin not null,
  id char(32) character set ascii collate ascii_bin not null,
  primary key (session, id)
) engine = InnoDB //
create table if not exists queuelock_trace (
  queue varbinary(512) not null,
  ord bigint not null,
  primary key (queue, ord)
) engine = InnoDB //
create table if not exists queuelock_register (
  queue varbinary(512) not null,
  kind varchar(16) character set ascii collate ascii_bin not null,
  version char(24) character set ascii collate ascii_bin not null,
  text varbinary(4096) not null,
  primary key (queue, kind)
) engine = InnoDB //
drop procedure if exists queuelock_lock //
create procedure queuelock_lock (in p_queue varbinary(512))
sql security invoker
begin
  insert into queuelock_queue (name, last, changes, joined, low, high) values (p_queue, 0, 1, 0, 1, 1)
    on duplicate key update changes = changes + 1;
end //
drop procedure if exists queuelock_close_ranks //
create procedure queuelock_close_ranks (in p_queue varbinary(512))
sql security invoker
begin
  declare v_ord bigint;
  declare v_all bigint default 0;
  declare v_exclusive bigint default 0;
  declare v_high int;
  declare v_shared, v_lim, v_permits, v_admitted int;
  declare v_session, v_id char(32) character set ascii;
  set v_ord = (select min(ord) from queuelock_entry where queue = p_queue and admitted = 0);
  if v_ord is not null then
    select coalesce(sum(permits), 0), coalesce(sum(permits * (1 - shared)), 0) into v_all, v_exclusive
      from queuelock_entry where queue = p_queue and ord < v_ord;
    set v_high = (select high from queuelock_queue where name = p_queue);
  end if;
  while v_ord is not null and v_exclusive < v_high do
    select session, id, shared, lim, permits, admitted into v_session, v_id, v_shared, v_lim, v_permits, v_admitted
      from queuelock_entry where queue = p_queue and ord = v_ord;
    if v_admitted = 0 and (
      if(v_shared, v_exclusive, v_all) = 0 or if(v_shared, v_exclusive, v_all) + v_permits <= v_lim
    ) then
      update queuelock_entry set admitted = 1, news = 1 where queue = p_queue and ord = v_ord;
      select 'turn' as word, v_session as a, concat(v_ord, '/', v_id) as b;
    end if;
    set v_all = v_all + v_permits;
    set v_exclusive = v_exclusive + if(v_shared, 0, v_permits);
    set v_ord = (select min(ord) from queuelock_entry where queue = p_queue and ord > v_ord);
  end while;
end //
drop procedure if exists queuelock_bury //
create procedure queuelock_bury (in p_session char(32) character set ascii)
sql security invoker
begin
  declare v_queue varbinary(512);
  set v_queue = (select queue from queuelock_entry where session = p_session order by id limit 1);
  while v_queue is not null do
    set transaction isolation level read committed;
  start transaction;
    call queuelock_lock(v_queue);
    delete from queuelock_entry where session = p_session and queue = v_queue;
    call queuelock_close_ranks(v_queue);
    commit;
    set v_queue = (select queue from queuelock_entry where session = p_session order by id limit 1);
  end while;
  delete from queuelock_removed where session = p_session;
  delete from queuelock_session where id = p_session and expires = '1970-01-01';
end //
drop procedure if exists queuelock_sweep //
create procedure queuelock_sweep ()
sql security invoker
begin
  declare v_session char(32) character set ascii;
  declare v_left int default 32;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  set v_session = (select id from queuelock_session where expires <= utc_timestamp(6) order by expires limit 1);
  while v_session is not null and v_left > 0 do
    update queuelock_session set expires = '1970-01-01' where id = v_session and expires <= utc_timestamp(6);
    if exists (select 1 from queuelock_session where id = v_session and expires = '1970-01-01') then
      call queuelock_bury(v_session);
    end if;
    set v_left = v_left - 1;
    set v_session = (select id from queuelock_session where expires <= utc_timestamp(6) order by expires limit 1);
  end while;
end //
drop procedure if exists queuelock_tidy //
create procedure queuelock_tidy ()
sql security invoker
begin
  declare v_queue varbinary(512);
  declare v_before bigint default timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) - 86400000000;
  declare v_left int default 100;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  update queuelock_meta set tidied = utc_timestamp(6) where id = 1 and tidied < utc_timestamp(6) - interval 10 minute;
  if row_count() > 0 then
    set v_queue = (select name from queuelock_queue where last < v_before
      and not exists (select 1 from queuelock_entry where queue = name) order by name limit 1);
    while v_queue is not null and v_left > 0 do
      set transaction isolation level read committed;
  start transaction;
      call queuelock_lock(v_queue);
      if not exists (select 1 from queuelock_entry where queue = v_queue) then
        update queuelock_meta set floor = greatest(floor, (select last from queuelock_queue where name = v_queue)) where id = 1;
        delete from queuelock_queue where name = v_queue;
      end if;
      commit;
      set v_left = v_left - 1;
      set v_queue = (select name from queuelock_queue where name > v_queue and last < v_before
        and not exists (select 1 from queuelock_entry where queue = name) order by name limit 1);
    end while;
  end if;
end //
drop procedure if exists queuelock_mend //
create procedure queuelock_mend (in p_queue varbinary(512))
sql security invoker
begin
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  call queuelock_sweep();
  set transaction isolation level read committed;
  start transaction;
  call queuelock_lock(p_queue);
  call queuelock_close_ranks(p_queue);
  commit;
end //
drop procedure if exists queuelock_evict //
create procedure queuelock_evict (in p_queue varbinary(512), in p_ord bigint)
sql security invoker
begin
  declare v_session, v_id char(32) character set ascii;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  call queuelock_sweep();
  set transaction isolation level read committed;
  start transaction;
  call queuelock_lock(p_queue);
  select session, id into v_session, v_id from queuelock_entry where queue = p_queue and ord = p_ord;
  if v_session is not null then
    -- A late attempt to add the entry must not put it back.
    insert ignore into queuelock_removed (session, id) values (v_session, v_id);
    update queuelock_session set lost = lost + 1 where id = v_session;
    delete from queuelock_entry where queue = p_queue and ord = p_ord;
    call queuelock_close_ranks(p_queue);
  end if;
  commit;
  select 'ok' as word, v_session is not null as a;
end //
drop procedure if exists queuelock_resume //
create procedure queuelock_resume (in p_session char(32) character set ascii)
sql security invoker
begin
  declare v_generation int;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  call queuelock_sweep();
  set transaction isolation level read committed;
  start transaction;
  update queuelock_session set generation = generation + 1, expires = utc_timestamp(6) + interval ttl microsecond
    where id = p_session and expires > utc_timestamp(6);
  set v_generation = (select generation from queuelock_session where id = p_session and expires > utc_timestamp(6));
  commit;
  if v_generation is null then
    select 'lost' as word;
  else
    select 'ok' as word, generation as a, ttl as b, lost as c from queuelock_session where id = p_session;
    select 'entry' as word, queue as a, ord as b, id as c, admitted as d from queuelock_entry where session = p_session;
  end if;
end //
drop procedure if exists queuelock_renew //
create procedure queuelock_renew (in p_session char(32) character set ascii, in p_generation int)
sql security invoker
begin
  update queuelock_session set expires = utc_timestamp(6) + interval ttl microsecond
    where id = p_session and generation = p_generation and expires > utc_timestamp(6);
  if exists (select 1 from queuelock_session where id = p_session and generation = p_generation and expires > utc_timestamp(6)) then
    select 'ok' as word, lost as a, (select count(*) from queuelock_entry where session = p_session) as b
      from queuelock_session where id = p_session;
  else
    select 'lost' as word;
  end if;
end //
drop procedure if exists queuelock_look //
create procedure queuelock_look (in p_session char(32) character set ascii, in p_generation int)
sql security invoker
begin
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  call queuelock_sweep();
  if exists (select 1 from queuelock_session where id = p_session and generation = p_generation) then
    select 'ok' as word, lost as a from queuelock_session where id = p_session;
    select 'entry' as word, queue as a, ord as b, id as c, admitted as d from queuelock_entry where session = p_session;
  else
    select 'lost' as word;
  end if;
end //
drop procedure if exists queuelock_end //
create procedure queuelock_end (in p_session char(32) character set ascii, in p_generation int)
sql security invoker
begin
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  update queuelock_session set expires = '1970-01-01' where id = p_session and generation = p_generation;
  if row_count() > 0 then
    call queuelock_bury(p_session);
  end if;
  select 'ok' as word;
end //
drop procedure if exists queuelock_enter //
create procedure queuelock_enter (in p_session char(32) character set ascii, in p_generation int, in p_try tinyint, in p_specs longtext character set ascii)
sql security invoker
main: begin
  declare v_count int default json_length(p_specs);
  declare v_nth int default 0;
  declare v_present int default 0;
  declare v_alive, v_removed int default 0;
  declare v_queue, v_is_queue varbinary(512);
  declare v_id char(32) character set ascii;
  declare v_ord, v_all bigint;
  declare v_shared, v_lim, v_permits, v_admitted, v_empty, v_is_shared, v_is_lim, v_is_permits, v_low, v_high, v_other int;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  call queuelock_sweep();
  set transaction isolation level read committed;
  start transaction;
  while v_nth < v_count do
    call queuelock_lock(unhex(json_unquote(json_extract(p_specs, concat('$[', v_nth, '].queue')))));
    set v_nth = v_nth + 1;
  end while;
  set v_alive = 0;
  select 1 into v_alive from queuelock_session
    where id = p_session and generation = p_generation and expires > utc_timestamp(6) lock in share mode;
  if v_alive = 0 then
    rollback;
    select 'lost' as word;
    leave main;
  end if;
  -- What is there already.
  set v_nth = 0;
  while v_nth < v_count do
    set v_queue = unhex(json_unquote(json_extract(p_specs, concat('$[', v_nth, '].queue')))), v_id = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].id'))), v_shared = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].shared'))), v_permits = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].permits')));
    set v_ord = null;
    select ord, queue, shared, permits into v_ord, v_is_queue, v_is_shared, v_is_permits
      from queuelock_entry where session = p_session and id = v_id;
    if v_ord is not null then
      set v_present = v_present + 1;
      if v_is_queue <> v_queue or v_is_shared <> v_shared or v_is_permits <> v_permits then
        rollback;
        select 'other' as word, v_id as a, v_is_queue as b, v_is_shared as c, v_is_permits as d;
        leave main;
      end if;
    end if;
    set v_removed = v_removed + (select count(*) from queuelock_removed where session = p_session and id = v_id);
    set v_nth = v_nth + 1;
  end while;
  if v_removed > 0 or (v_present > 0 and v_present < v_count) then
    set v_nth = 0;
    while v_nth < v_count do
      set v_queue = unhex(json_unquote(json_extract(p_specs, concat('$[', v_nth, '].queue')))), v_id = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].id')));
      -- Another attempt of the same call may still arrive.
      insert ignore into queuelock_removed (session, id) values (p_session, v_id);
      delete from queuelock_entry where session = p_session and id = v_id;
      call queuelock_close_ranks(v_queue);
      set v_nth = v_nth + 1;
    end while;
    commit;
    select 'removed' as word;
    leave main;
  end if;
  set v_nth = 0;
  while v_nth < v_count do
    set v_queue = unhex(json_unquote(json_extract(p_specs, concat('$[', v_nth, '].queue')))), v_id = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].id'))), v_shared = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].shared'))), v_lim = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].limit'))), v_permits = json_unquote(json_extract(p_specs, concat('$[', v_nth, '].permits')));
    set v_empty = not exists (select 1 from queuelock_entry where queue = v_queue);
    if v_present > 0 then
      select ord, lim, admitted into v_ord, v_is_lim, v_admitted
        from queuelock_entry where session = p_session and id = v_id;
    else
      set v_is_lim = v_lim, v_admitted = v_empty;
      -- Each entry ahead takes at least one permit, so reading as many entries as the limit is sufficient.
      if not v_empty and (v_shared or v_permits < v_lim) then
        set v_all = (select coalesce(sum(permits), 0) from (
          select permits from queuelock_entry where queue = v_queue and (shared = 0 or v_shared = 0) order by ord limit v_lim
        ) as ahead);
        set v_admitted = v_all = 0 or v_all + v_permits <= v_lim;
      end if;
    end if;
    if p_try and not v_admitted then
      rollback;
      select 'busy' as word;
      leave main;
    end if;
    update queuelock_queue set low = if(v_empty, v_lim, least(low, v_lim)), high = if(v_empty, v_lim, greatest(high, v_lim))
      where name = v_queue;
    if v_present = 0 then
      set v_ord = greatest(
        (select last from queuelock_queue where name = v_queue) + 1,
        (select floor from queuelock_meta where id = 1) + 1,
        timestampdiff(microsecond, '1970-01-01', utc_timestamp(6))
      );
      update queuelock_queue set last = v_ord, joined = if(v_empty, 1, joined + 1) where name = v_queue;
      insert into queuelock_entry (queue, ord, id, session, shared, lim, permits, admitted, news, value)
        values (v_queue, v_ord, v_id, p_session, v_shared, v_lim, v_permits, v_admitted, 0, unhex(json_unquote(json_extract(p_specs, concat('$[', v_nth, '].value')))));
    elseif v_is_lim <> v_lim then
      update queuelock_entry set lim = v_lim where queue = v_queue and ord = v_ord;
      call queuelock_close_ranks(v_queue);
      set v_admitted = (select admitted from queuelock_entry where queue = v_queue and ord = v_ord);
    end if;
    -- The limit of an entry ahead, if it differs: for a lock the nearest exclusive entry is sufficient.
    set v_other = null;
    select low, high into v_low, v_high from queuelock_queue where name = v_queue;
    if not v_shared and (v_low <> v_lim or v_high <> v_lim) then
      if v_lim > 1 then
        set v_other = (select lim from queuelock_entry where queue = v_queue and ord < v_ord and lim <> v_lim order by ord desc limit 1);
      else
        set v_other = (select lim from queuelock_entry where queue = v_queue and ord < v_ord and shared = 0 order by ord desc limit 1);
        set v_other = nullif(v_other, v_lim);
      end if;
    end if;
    select 'place' as word, v_ord as a, v_admitted as b, if(v_admitted, 0, (select count(*) from (
      select 1 from queuelock_entry where queue = v_queue and ord < v_ord and (shared = 0 or v_shared = 0) limit 100
    ) as ahead)) as c, v_other as d;
    set v_nth = v_nth + 1;
  end while;
  commit;
  select 'ok' as word;
end //
drop procedure if exists queuelock_leave //
create procedure queuelock_leave (in p_session char(32) character set ascii, in p_generation int, in p_queue varbinary(512), in p_id char(32) character set ascii, in p_in_doubt tinyint, in p_ord bigint)
sql security invoker
begin
  declare v_alive int default 0;
  declare v_ord bigint;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  call queuelock_sweep();
  set transaction isolation level read committed;
  start transaction;
  call queuelock_lock(p_queue);
  set v_alive = 0;
  select 1 into v_alive from queuelock_session
    where id = p_session and generation = p_generation and expires > utc_timestamp(6) lock in share mode;
  set v_ord = (select ord from queuelock_entry where session = p_session and id = p_id and queue = p_queue and ord = if(p_ord = 0, ord, p_ord));
  if v_alive and p_in_doubt then
    insert ignore into queuelock_removed (session, id) values (p_session, p_id);
  end if;
  if v_alive and v_ord is not null then
    delete from queuelock_trace where queue = p_queue and ord = v_ord;
    delete from queuelock_entry where queue = p_queue and ord = v_ord;
    call queuelock_close_ranks(p_queue);
  end if;
  commit;
  select if(v_alive, 'ok', 'lost') as word, v_ord is not null as a;
end //
drop procedure if exists queuelock_change //
create procedure queuelock_change (in p_session char(32) character set ascii, in p_generation int, in p_queue varbinary(512), in p_id char(32) character set ascii, in p_value varbinary(2048), in p_share tinyint)
sql security invoker
begin
  declare v_alive int default 0;
  declare v_ord bigint;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  set transaction isolation level read committed;
  start transaction;
  call queuelock_lock(p_queue);
  set v_alive = 0;
  select 1 into v_alive from queuelock_session
    where id = p_session and generation = p_generation and expires > utc_timestamp(6) lock in share mode;
  set v_ord = (select ord from queuelock_entry where session = p_session and id = p_id and queue = p_queue);
  if v_alive and v_ord is not null then
    update queuelock_entry set value = p_value, shared = greatest(shared, p_share) where queue = p_queue and ord = v_ord;
    if p_share then
      call queuelock_close_ranks(p_queue);
    end if;
  end if;
  commit;
  select if(v_alive, 'ok', 'lost') as word, v_ord is not null as a;
end //
drop procedure if exists queuelock_leave_trace //
create procedure queuelock_leave_trace (in p_session char(32) character set ascii, in p_generation int, in p_queue varbinary(512), in p_id char(32) character set ascii)
sql security invoker
begin
  declare v_alive int default 0;
  declare v_ord bigint;
  declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;
  call queuelock_sweep();
  set transaction isolation level read committed;
  start transaction;
  call queuelock_lock(p_queue);
  set v_alive = 0;
  select 1 into v_alive from queuelock_session
    where id = p_session and generation = p_generation and expires > utc_timestamp(6) lock in share mode;
  set v_ord = (select ord from queuelock_entry where session = p_session and id = p_id and queue = p_queue);
  if v_alive and v_ord is not null then
    insert ignore into queuelock_trace (queue, ord) values (p_queue, v_ord);
    select 'trace' as word, ord as a from queuelock_trace where queue = p_queue and not exists (
      select 1 from queuelock_entry where queuelock_entry.queue = queuelock_trace.queue and queuelock_entry.ord = queuelock_trace.ord
    ) order by ord;
  end if;
  commit;
  select if(v_alive, if(v_ord is null, 'removed', 'ok'), 'lost') as word;
end //
insert into queuelock_meta (id, version, floor, tidied) values (1, 1, 0, utc_timestamp(6))
  on duplicate key update version = 1 //
delimiter ;
