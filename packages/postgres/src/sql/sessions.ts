import { PLANNED } from './planned.ts';

/** SQL functions for sessions and for traces. */
export const SESSIONS: string = `
-- Deletes queues that were not used for an hour, and keeps their numbers.
create function queuelock.tidy() returns void language plpgsql
set search_path = queuelock, pg_catalog, pg_temp as $$
begin
  with idle as (
    select name from queue where last < now_us() - 3600000000 and watched < clock_timestamp()
    and not exists (select from entry where queue = name) limit 1000 for update skip locked
  ), forgotten as (delete from queue using idle where queue.name = idle.name returning last)
  update store set floor = greatest(floor, (select max(last) from forgotten)) where exists (select from forgotten);
end $$;

create function queuelock.open(p_id text, p_ttl_ms double precision, p_inbox text) returns json language plpgsql
${PLANNED} as $$
declare
  own bigint;
begin
  perform begin_step('{}');
  insert into session (id, generation, ttl, expires, inbox)
    values (p_id, 1, p_ttl_ms * interval '1 ms', clock_timestamp() + p_ttl_ms * interval '1 ms', p_inbox) returning num into own;
  if random() < 0.01 then perform tidy(); end if;
  return json_build_object('word', 'ok', 'num', own, 'format', (select format from store));
end $$;

-- Those who had it before have lost it.
create function queuelock.resume(p_id text, p_inbox text) returns json language plpgsql
${PLANNED} as $$
declare
  own session;
begin
  perform begin_step('{}');
  update session set generation = generation + 1, inbox = p_inbox, expires = clock_timestamp() + ttl
    where id = p_id and expires > clock_timestamp() returning * into own;
  if not found then return '{"word":"lost"}'; end if;
  return json_build_object('word', 'ok', 'num', own.num, 'generation', own.generation, 'ttlMs', extract(epoch from own.ttl) * 1000,
    'inherited', (select coalesce(json_agg(json_build_object('ord', ord, 'id', id)), '[]') from entry where session = own.num));
end $$;

-- Never waits for a lock. The sums show whether the client knows all its entries.
create function queuelock.renew(p_session bigint, p_generation integer) returns json language plpgsql
${PLANNED} as $$
declare
  now timestamptz := clock_timestamp();
begin
  if current_setting('synchronous_commit') not in ('on', 'remote_apply') then
    perform set_config('synchronous_commit', 'on', true);
  end if;
  update session set expires = clock_timestamp() + ttl
    where num = p_session and generation = p_generation and expires > clock_timestamp();
  if not found then return '{"word":"lost"}'; end if;
  return (select json_build_object('word', 'ok', 'there', coalesce(sum(ord), 0)::text,
    'waiting', coalesce(sum(ord) filter (where not admitted), 0)::text,
    'someEnded', exists (select from session where expires <= now))
    from entry where session = p_session);
end $$;

-- All its entries go at once.
create function queuelock.end_session(p_session bigint, p_generation integer) returns json language plpgsql
${PLANNED} as $$
begin
  update session set expires = '-infinity', inbox = '' where num = p_session and generation = p_generation;
  perform begin_step('{}');
  return '{"word":"ok"}';
end $$;

create function queuelock.look(p_session bigint, p_generation integer) returns json language plpgsql
${PLANNED} as $$
begin
  perform begin_step('{}');
  if not exists (select from session where num = p_session and generation = p_generation) then return '{"word":"lost"}'; end if;
  return json_build_object('word', 'ok', 'entries', (select coalesce(json_agg(json_build_object(
    'ord', ord, 'admitted', admitted, 'id', id, 'queue', queue)), '[]') from entry where session = p_session));
end $$;

create function queuelock.leave_trace(p_session bigint, p_generation integer, p_queue text, p_id text) returns json language plpgsql
${PLANNED} as $$
begin
  if not begin_own_step(p_session, p_generation, array[p_queue]) then return '{"word":"lost"}'; end if;
  insert into trace select queue, ord from entry where session = p_session and id = p_id and queue = p_queue on conflict do nothing;
  if not exists (select from entry where session = p_session and id = p_id and queue = p_queue) then return '{"word":"removed"}'; end if;
  return json_build_object('word', 'ok', 'orphans', (select coalesce(json_agg(ord::text order by ord), '[]') from trace
    where queue = p_queue and not exists (select from entry where entry.queue = trace.queue and entry.ord = trace.ord)));
end $$;

create function queuelock.erase_traces(p_session bigint, p_generation integer, p_queue text, p_ords bigint[]) returns json language plpgsql
${PLANNED} as $$
begin
  if not begin_own_step(p_session, p_generation, array[p_queue]) then return '{"word":"lost"}'; end if;
  delete from trace where queue = p_queue and ord = any(p_ords);
  return '{"word":"ok"}';
end $$;
`;
