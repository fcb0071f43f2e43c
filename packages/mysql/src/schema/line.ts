/**
 * The statements that begin a step: a transaction with isolation level read committed, whatever the default
 * of the connection is.
 */
export const BEGIN = `set transaction isolation level read committed;
  start transaction;`;

/**
 * The SQL handler that rolls back the transaction of a procedure after any error, so that the transaction
 * keeps no row lock.
 */
export const OR_ROLLBACK = `declare exit handler for sqlexception
  begin
    rollback;
    resignal;
  end;`;

export const SESSION = 'in p_session char(32) character set ascii, in p_generation int';

export const ENTRY: string = `${SESSION}, in p_queue varbinary(512), in p_id char(32) character set ascii`;

/**
 * Sets `v_alive` to 1 if the session is alive, else to 0. The shared row lock on the session keeps other
 * clients from ending it until this transaction commits.
 */
export const ALIVE = `set v_alive = 0;
  select 1 into v_alive from queuelock_session
    where id = p_session and generation = p_generation and expires > utc_timestamp(6) lock in share mode;`;

/** Procedures that other procedures call, and procedures that need no session. */
export const LINE: ReadonlyMap<string, string> = new Map([
  // Locks the row of a queue, and creates the row if it is absent. Only one transaction at a time has the
  // lock, so its later statements read what the previous transaction committed.
  [
    'queuelock_lock',
    `(in p_queue varbinary(512))
begin
  insert into queuelock_queue (name, last, changes, joined, low, high) values (p_queue, 0, 1, 0, 1, 1)
    on duplicate key update changes = changes + 1;
end`,
  ],
  // Admits all waiting entries that may hold now. Reads the queue from the first waiting entry on, and stops
  // where no further entry can be admitted.
  [
    'queuelock_close_ranks',
    `(in p_queue varbinary(512))
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
end`,
  ],
  // Removes the entries of a session that has ended, one queue at a time, and then the session itself.
  [
    'queuelock_bury',
    `(in p_session char(32) character set ascii)
begin
  declare v_queue varbinary(512);
  set v_queue = (select queue from queuelock_entry where session = p_session order by id limit 1);
  while v_queue is not null do
    ${BEGIN}
    call queuelock_lock(v_queue);
    delete from queuelock_entry where session = p_session and queue = v_queue;
    call queuelock_close_ranks(v_queue);
    commit;
    set v_queue = (select queue from queuelock_entry where session = p_session order by id limit 1);
  end while;
  delete from queuelock_removed where session = p_session;
  delete from queuelock_session where id = p_session and expires = '1970-01-01';
end`,
  ],
  // Ends expired sessions. Each session is marked as ended before any of its entries is removed, so that no
  // late heartbeat can revive it.
  [
    'queuelock_sweep',
    `()
begin
  declare v_session char(32) character set ascii;
  declare v_left int default 32;
  ${OR_ROLLBACK}
  set v_session = (select id from queuelock_session where expires <= utc_timestamp(6) order by expires limit 1);
  while v_session is not null and v_left > 0 do
    update queuelock_session set expires = '1970-01-01' where id = v_session and expires <= utc_timestamp(6);
    if exists (select 1 from queuelock_session where id = v_session and expires = '1970-01-01') then
      call queuelock_bury(v_session);
    end if;
    set v_left = v_left - 1;
    set v_session = (select id from queuelock_session where expires <= utc_timestamp(6) order by expires limit 1);
  end while;
end`,
  ],
  // Removes the rows of queues that no entry has joined for a day. `queuelock_meta.floor` keeps their largest
  // order number, so that later entries of such a queue get larger ones.
  [
    'queuelock_tidy',
    `()
begin
  declare v_queue varbinary(512);
  declare v_before bigint default timestampdiff(microsecond, '1970-01-01', utc_timestamp(6)) - 86400000000;
  declare v_left int default 100;
  ${OR_ROLLBACK}
  update queuelock_meta set tidied = utc_timestamp(6) where id = 1 and tidied < utc_timestamp(6) - interval 10 minute;
  if row_count() > 0 then
    set v_queue = (select name from queuelock_queue where last < v_before
      and not exists (select 1 from queuelock_entry where queue = name) order by name limit 1);
    while v_queue is not null and v_left > 0 do
      ${BEGIN}
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
end`,
  ],
  // Repairs a queue after an operator has deleted an entry by hand: admits all waiting entries that may hold
  // now.
  [
    'queuelock_mend',
    `(in p_queue varbinary(512))
begin
  ${OR_ROLLBACK}
  call queuelock_sweep();
  ${BEGIN}
  call queuelock_lock(p_queue);
  call queuelock_close_ranks(p_queue);
  commit;
end`,
  ],
  [
    'queuelock_evict',
    `(in p_queue varbinary(512), in p_ord bigint)
begin
  declare v_session, v_id char(32) character set ascii;
  ${OR_ROLLBACK}
  call queuelock_sweep();
  ${BEGIN}
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
end`,
  ],
]);
