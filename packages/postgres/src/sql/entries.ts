import { PLANNED } from './planned.ts';

/** SQL functions that add, change and remove entries. */
export const ENTRIES: string = `
-- What a client gets about the position of an entry.
create function queuelock.place(p_queue text, p_ord bigint) returns json language plpgsql as $$
declare
  own entry := (select e from entry e where queue = p_queue and ord = p_ord);
  ahead bigint := 0;
  other bigint;
begin
  if not own.admitted then
    ahead := case
      when own.shared then (select count(*) from (select from entry where queue = p_queue and ord < p_ord and not shared limit 100) front)
      else (select count(*) from (select from entry where queue = p_queue and ord < p_ord limit 100) front) end;
  end if;
  if own.lim > 1 and not own.shared then
    other := (select lim from entry where queue = p_queue and ord < p_ord and lim <> own.lim limit 1);
  elsif not own.shared then
    other := (select nullif(lim, 1) from
      (select lim from entry where queue = p_queue and ord < p_ord and not shared order by ord desc limit 1) nearest);
  end if;
  return json_build_object('ord', p_ord, 'admitted', own.admitted, 'ahead', ahead, 'other', other,
    'endsInMs', case when not own.admitted then first_end(p_queue) end);
end $$;

create function queuelock.take_out(p_session bigint, p_queue text, p_id text, p_for_ever boolean) returns boolean language plpgsql as $$
declare
  own bigint;
begin
  if p_for_ever then insert into removed values (p_session, p_id) on conflict do nothing; end if;
  with gone as (delete from entry where session = p_session and id = p_id and queue = p_queue returning ord),
    untraced as (delete from trace using gone where trace.queue = p_queue and trace.ord = gone.ord)
    select ord into own from gone;
  if not found then return false; end if;
  perform close_ranks(p_queue), changed(p_queue);
  return true;
end $$;

-- Creates all entries or none. Each element is an object: queue, id, shared, limit, permits, value.
create function queuelock.enqueue(p_session bigint, p_generation integer, p_try boolean, p_requests json) returns json language plpgsql
${PLANNED} as $$
declare
  now timestamptz := clock_timestamp();
  one record;
  known entry;
  present integer := 0;
  is_removed boolean := false;
  is_free boolean;
  places json[] := '{}';
begin
  if p_try then
    one := (select w from json_to_record(p_requests->0) as w(queue text, id text, shared boolean, "limit" bigint, permits bigint));
    -- Who is in the way now is so without a lock, too.
    if not exists (select from session where expires <= now)
      and exists (select from session where num = p_session and generation = p_generation)
      and not exists (select from entry where session = p_session and id = one.id)
      and not exists (select from removed where session = p_session and id = one.id)
      and not admits(taken(one.queue, one.shared, one."limit"), one.permits, one."limit")
    then return '{"word":"busy"}'; end if;
  end if;
  if not begin_own_step(p_session, p_generation, array(select w->>'queue' from json_array_elements(p_requests) w)) then return '{"word":"lost"}'; end if;
  for one in select * from json_to_recordset(p_requests)
    as w(queue text, id text, shared boolean, "limit" bigint, permits bigint, value text) loop
    select * into known from entry where session = p_session and id = one.id;
    if found then
      if known.queue <> one.queue or known.shared <> one.shared or (known.permits <> one.permits and not known.shared) then
        return json_build_object('word', 'other', 'id', known.id, 'queue', known.queue, 'shared', known.shared, 'permits', known.permits);
      end if;
      present := present + 1;
    elsif exists (select from removed where session = p_session and id = one.id) then
      is_removed := true;
    end if;
  end loop;
  if is_removed or present not in (0, json_array_length(p_requests)) then
    perform take_out(p_session, w->>'queue', w->>'id', true) from json_array_elements(p_requests) w;
    return '{"word":"removed"}';
  end if;
  for one in select * from json_to_recordset(p_requests)
    as w(queue text, id text, shared boolean, "limit" bigint, permits bigint, value text) loop
    select * into known from entry where session = p_session and id = one.id;
    if found then
      if p_try and not known.admitted then return '{"word":"busy"}'; end if;
      if known.lim <> one."limit" then
        update entry set lim = one."limit" where queue = known.queue and ord = known.ord;
        perform close_ranks(known.queue);
      end if;
    else
      is_free := admits(taken(one.queue, one.shared, one."limit"), one.permits, one."limit");
      if p_try and not is_free then return '{"word":"busy"}'; end if;
      update queue set last = greatest(last + 1, now_us()), joined = joined + 1 where name = one.queue returning last into known.ord;
      insert into entry values (one.queue, known.ord, p_session, one.id, one.shared, one."limit", one.permits, is_free, one.value);
      perform changed(one.queue);
    end if;
    places := places || place(one.queue, known.ord);
  end loop;
  return json_build_object('word', 'ok', 'places', array_to_json(places));
end $$;

-- p_in_doubt: a request to enter may still be on its way. p_ord: only if it has that number.
create function queuelock.remove(p_session bigint, p_generation integer, p_queue text, p_id text, p_in_doubt boolean, p_ord bigint)
returns json language plpgsql
${PLANNED} as $$
begin
  if not begin_own_step(p_session, p_generation, array[p_queue]) then return '{"word":"lost"}'; end if;
  if p_ord is not null and not exists (select from entry where queue = p_queue and ord = p_ord and session = p_session and id = p_id) then
    return '{"word":"ok","done":false}';
  end if;
  return json_build_object('word', 'ok', 'done', take_out(p_session, p_queue, p_id, p_in_doubt));
end $$;

create function queuelock.update_entry(p_session bigint, p_generation integer, p_queue text, p_id text, p_value text, p_share boolean)
returns json language plpgsql
${PLANNED} as $$
declare
  is_there boolean;
begin
  if not begin_own_step(p_session, p_generation, array[p_queue]) then return '{"word":"lost"}'; end if;
  update entry set value = p_value, shared = shared or p_share where session = p_session and id = p_id and queue = p_queue;
  is_there := found;
  if is_there and p_share then perform close_ranks(p_queue); end if;
  if is_there then perform changed(p_queue); end if;
  return json_build_object('word', 'ok', 'done', is_there);
end $$;

-- Of any session.
create function queuelock.evict(p_queue text, p_ord bigint) returns json language plpgsql
${PLANNED} as $$
declare
  victim entry;
begin
  perform begin_step(array[p_queue]);
  delete from entry where queue = p_queue and ord = p_ord returning * into victim;
  if not found then return '{"word":"ok","done":false}'; end if;
  insert into removed values (victim.session, victim.id) on conflict do nothing;
  perform tell(victim.session, 'gone', p_ord, victim.id), close_ranks(p_queue), changed(p_queue);
  return '{"word":"ok","done":true}';
end $$;
`;
