/**
 * SQL functions for the order within a queue.
 * All steps lock rows in the same order, so that no two of them wait for each other. First they lock the rows
 * of expired sessions, and skip those that another step has locked. Then they lock the rows of queues, by
 * name. After that, no step waits for a lock.
 * Searches by time read the clock once before the search. PostgreSQL uses no index for a comparison with
 * `clock_timestamp()`, because its value changes from row to row.
 */
export const LINE = `
create function queuelock.now_us() returns bigint language sql volatile as $$
  select (extract(epoch from clock_timestamp()) * 1000000)::bigint
$$;

-- Notifies the process of a session. The notification is sent when the step commits. It names an entry by number and id, since entries of
-- one session in two queues may have the same number.
create function queuelock.tell(p_session bigint, p_kind text, p_ord bigint default 0, p_id text default '') returns void language plpgsql as $$
begin
  perform pg_notify(inbox, concat_ws(':', id, p_kind, p_ord || '/' || p_id)) from session where num = p_session and inbox <> '';
end $$;

create function queuelock.changed(p_queue text) returns void language plpgsql as $$
begin
  perform pg_notify('queuelock:look', name) from queue where name = p_queue and watched > clock_timestamp();
end $$;

-- Permits of the entries that conflict with one, as far as they matter to it: each takes one at least.
create function queuelock.taken(p_queue text, p_shared boolean, p_most bigint, p_before bigint default null)
returns bigint language plpgsql as $$
begin
  if p_shared then
    return (select coalesce(sum(permits), 0) from
      (select permits from entry where queue = p_queue and not shared and ord < coalesce(p_before, ord + 1) order by ord limit p_most) front);
  end if;
  return (select coalesce(sum(permits), 0) from
    (select permits from entry where queue = p_queue and ord < coalesce(p_before, ord + 1) order by ord limit p_most) front);
end $$;

-- The one rule of all locks.
create function queuelock.admits(p_taken bigint, p_permits bigint, p_limit bigint) returns boolean language sql immutable as $$
  select p_taken = 0 or p_taken + p_permits <= p_limit
$$;

-- Admits the entries that may hold now. Reads no further than an entry can be admitted.
create function queuelock.close_ranks(p_queue text) returns void language plpgsql as $$
declare
  place bigint;
  largest bigint;
  alone bigint; -- permits of the exclusive entries in front
  everybody bigint;
  piece integer := 2;
  found_ones integer;
  one record;
  sent text;
begin
  -- Mostly no entry is in front any more, and a new entry is the only one.
  update entry set admitted = true
    where queue = p_queue and ord = (select ord from entry where queue = p_queue order by ord limit 1) and not admitted and not shared
    and not exists (select from entry where queue = p_queue and not admitted and lim > 1)
    returning tell(session, 'admitted', ord, id) into sent;
  if found then return; end if;
  place := (select ord from entry where queue = p_queue and not admitted order by ord limit 1);
  if place is null then return; end if;
  largest := coalesce((select lim from entry where queue = p_queue and not admitted and lim > 1 order by lim desc limit 1), 1);
  everybody := taken(p_queue, false, largest, place);
  alone := case when everybody = 0 then 0 else taken(p_queue, true, largest, place) end;
  loop
    found_ones := 0;
    for one in select * from entry where queue = p_queue and ord >= place order by ord limit piece loop
      found_ones := found_ones + 1;
      place := one.ord + 1;
      if not one.admitted and admits(case when one.shared then alone else everybody end, one.permits, one.lim) then
        update entry set admitted = true where queue = p_queue and ord = one.ord;
        perform tell(one.session, 'admitted', one.ord, one.id);
      end if;
      everybody := everybody + one.permits;
      if not one.shared then alone := alone + one.permits; end if;
      if alone >= largest then return; end if;
    end loop;
    if found_ones < piece then return; end if;
    piece := piece * 2;
  end loop;
end $$;

-- What a step writes outlives a crash, and it sees what was committed before it has its locks.
create function queuelock.check_settings() returns boolean language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception using errcode = 'QL001', message = 'the isolation level is ' || current_setting('transaction_isolation');
  end if;
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  return true;
end $$;

-- Begins a step: sessions whose leases are over have ended. It has the locks of these queues.
create function queuelock.begin_step(p_queues text[]) returns void language plpgsql as $$
declare
  now timestamptz := clock_timestamp();
  ended bigint[] := '{}';
  theirs text[] := '{}';
  one text;
begin
  perform check_settings();
  if exists (select from session where expires <= now) then
    ended := array(select num from session where expires <= now order by expires limit 100 for update skip locked);
    theirs := array(select queue from entry where session = any(ended));
  end if;
  for one in select distinct unnest(p_queues || theirs) collate "C" as name order by name loop
    perform from queue where name = one for update;
    if not found then
      insert into queue select one, floor, 0, '-infinity' from store on conflict do nothing;
      perform from queue where name = one for update;
    end if;
  end loop;
  if ended = '{}' then return; end if;
  perform tell(num, 'ended') from session where num = any(ended);
  delete from entry where session = any(ended);
  delete from removed where session = any(ended);
  delete from session where num = any(ended);
  for one in select distinct unnest(theirs) loop
    perform close_ranks(one), changed(one);
  end loop;
end $$;

-- Grows within a queue for ever, also when the clock is set back. The queue's lock is ours.
create function queuelock.next_number(p_queue text) returns bigint language sql volatile as $$
  update queue set last = greatest(last + 1, now_us()) where name = p_queue returning last
$$;

-- Begins a step of a session, and returns whether the session is alive. Other steps cannot end it before this step has committed.
create function queuelock.begin_own_step(p_session bigint, p_generation integer, p_queues text[]) returns boolean language plpgsql as $$
declare
  now timestamptz := clock_timestamp();
begin
  -- The common case, one stored queue without an expired lease, needs only one read.
  if check_settings() and cardinality(p_queues) = 1 then
    perform from queue, session
      where name = p_queues[1] and num = p_session and generation = p_generation and expires > now
      and not exists (select from session where expires <= now)
      for update of queue for key share of session skip locked;
    if found then return true; end if;
  end if;
  perform begin_step(p_queues);
  perform from session where num = p_session and generation = p_generation and expires > clock_timestamp() for key share skip locked;
  return found;
end $$;

-- Milliseconds until the first lease in front ends; null when no entry is in front.
create function queuelock.first_end(p_queue text) returns double precision language plpgsql as $$
begin
  return (select extract(epoch from min(expires) - clock_timestamp())::double precision * 1000
    from (select session from entry where queue = p_queue order by ord limit 16) front join session on num = session);
end $$;
`;
