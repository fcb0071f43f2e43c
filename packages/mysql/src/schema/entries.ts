import { ALIVE, BEGIN, ENTRY, OR_ROLLBACK, SESSION } from './line.ts';

const SPEC = (name: string): string =>
  `json_unquote(json_extract(p_specs, concat('$[', v_nth, '].${name}')))`;
const QUEUE = `unhex(${SPEC('queue')})`;

/** Procedures that add, change and remove entries. Each procedure makes its changes in one transaction. */
export const ENTRIES: ReadonlyMap<string, string> = new Map([
  // Adds all entries in `p_specs` or none of them. With `p_try`, it adds them only if none of them has to
  // wait. The caller sorts the entries by queue, so that all transactions lock the rows of queues in the same
  // order.
  [
    'queuelock_enter',
    `(${SESSION}, in p_try tinyint, in p_specs longtext character set ascii)
main: begin
  declare v_count int default json_length(p_specs);
  declare v_nth int default 0;
  declare v_present int default 0;
  declare v_alive, v_removed int default 0;
  declare v_queue, v_is_queue varbinary(512);
  declare v_id char(32) character set ascii;
  declare v_ord, v_all bigint;
  declare v_shared, v_lim, v_permits, v_admitted, v_empty, v_is_shared, v_is_lim, v_is_permits, v_low, v_high, v_other int;
  ${OR_ROLLBACK}
  call queuelock_sweep();
  ${BEGIN}
  while v_nth < v_count do
    call queuelock_lock(${QUEUE});
    set v_nth = v_nth + 1;
  end while;
  ${ALIVE}
  if v_alive = 0 then
    rollback;
    select 'lost' as word;
    leave main;
  end if;
  -- What is there already.
  set v_nth = 0;
  while v_nth < v_count do
    set v_queue = ${QUEUE}, v_id = ${SPEC('id')}, v_shared = ${SPEC('shared')}, v_permits = ${SPEC('permits')};
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
      set v_queue = ${QUEUE}, v_id = ${SPEC('id')};
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
    set v_queue = ${QUEUE}, v_id = ${SPEC('id')}, v_shared = ${SPEC('shared')}, v_lim = ${SPEC('limit')}, v_permits = ${SPEC('permits')};
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
        values (v_queue, v_ord, v_id, p_session, v_shared, v_lim, v_permits, v_admitted, 0, unhex(${SPEC('value')}));
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
end`,
  ],
  // Removes an entry. With `p_in_doubt`, an enqueue of this entry may still be in flight, and the server will
  // refuse it. If `p_ord` is not 0, removes the entry only if `p_ord` is its order number.
  [
    'queuelock_leave',
    `(${ENTRY}, in p_in_doubt tinyint, in p_ord bigint)
begin
  declare v_alive int default 0;
  declare v_ord bigint;
  ${OR_ROLLBACK}
  call queuelock_sweep();
  ${BEGIN}
  call queuelock_lock(p_queue);
  ${ALIVE}
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
end`,
  ],
  [
    'queuelock_change',
    `(${ENTRY}, in p_value varbinary(2048), in p_share tinyint)
begin
  declare v_alive int default 0;
  declare v_ord bigint;
  ${OR_ROLLBACK}
  ${BEGIN}
  call queuelock_lock(p_queue);
  ${ALIVE}
  set v_ord = (select ord from queuelock_entry where session = p_session and id = p_id and queue = p_queue);
  if v_alive and v_ord is not null then
    update queuelock_entry set value = p_value, shared = greatest(shared, p_share) where queue = p_queue and ord = v_ord;
    if p_share then
      call queuelock_close_ranks(p_queue);
    end if;
  end if;
  commit;
  select if(v_alive, 'ok', 'lost') as word, v_ord is not null as a;
end`,
  ],
  // Stores a trace of an entry's hold. Returns the traces of the queue whose entries no longer exist.
  [
    'queuelock_leave_trace',
    `(${ENTRY})
begin
  declare v_alive int default 0;
  declare v_ord bigint;
  ${OR_ROLLBACK}
  call queuelock_sweep();
  ${BEGIN}
  call queuelock_lock(p_queue);
  ${ALIVE}
  set v_ord = (select ord from queuelock_entry where session = p_session and id = p_id and queue = p_queue);
  if v_alive and v_ord is not null then
    insert ignore into queuelock_trace (queue, ord) values (p_queue, v_ord);
    select 'trace' as word, ord as a from queuelock_trace where queue = p_queue and not exists (
      select 1 from queuelock_entry where queuelock_entry.queue = queuelock_trace.queue and queuelock_entry.ord = queuelock_trace.ord
    ) order by ord;
  end if;
  commit;
  select if(v_alive, if(v_ord is null, 'removed', 'ok'), 'lost') as word;
end`,
  ],
]);
