import { PLANNED } from './planned.ts';

/** SQL functions for observers and for registers. */
export const VIEWS: string = `
-- Returns the entries in order, and notifies the calling session of changes for a minute.
create function queuelock.watch(p_queue text) returns json language plpgsql
${PLANNED} as $$
begin
  if exists (select from queue where name = p_queue and watched > clock_timestamp() + interval '30 s') then
    perform begin_step('{}');
  else
    perform begin_step(array[p_queue]);
    update queue set watched = clock_timestamp() + interval '1 min' where name = p_queue;
  end if;
  return view(p_queue);
end $$;

create function queuelock.view(p_queue text) returns json language plpgsql
${PLANNED} as $$
begin
  return json_build_object('word', 'ok', 'endsInMs', first_end(p_queue),
    'entries', (select coalesce(json_agg(json_build_object('ord', ord, 'shared', shared, 'value', value) order by ord), '[]')
      from entry where queue = p_queue),
    'registers', (select coalesce(json_object_agg(kind, json_build_object('version', version::text, 'content', content)), '{}')
      from register where queue = p_queue));
end $$;

-- Of each queue, milliseconds until the first lease in front ends.
create function queuelock.ends(p_queues text[]) returns json language plpgsql
${PLANNED} as $$
begin
  perform begin_step('{}');
  return json_build_object('word', 'ok', 'ends', (select coalesce(json_agg(first_end(name) order by nth), '[]')
    from unnest(p_queues) with ordinality as asked(name, nth)));
end $$;

create function queuelock.queues(p_prefix text) returns json language plpgsql
${PLANNED} as $$
begin
  perform begin_step('{}');
  return json_build_object('word', 'ok', 'sessions', (select count(*) from session),
    'queues', (select coalesce(json_agg(json_build_object('name', queue, 'depth', depth, 'front', front, 'joined', joined) order by queue), '[]')
      from (select queue, count(*) as depth, min(ord) as front from entry
        where queue >= p_prefix and starts_with(queue, p_prefix) group by queue) there join queue on name = queue));
end $$;

create function queuelock.read_register(p_queue text, p_kind text) returns json language plpgsql
${PLANNED} as $$
begin
  return (select json_build_object('word', 'ok', 'version', min(version)::text, 'content', min(content))
    from register where queue = p_queue and kind = p_kind);
end $$;

-- If the version is still that one; null: if it is empty. A content of null empties it.
create function queuelock.write_register(p_queue text, p_kind text, p_was bigint, p_content text) returns json language plpgsql
${PLANNED} as $$
begin
  perform begin_step(array[p_queue]);
  if (select version from register where queue = p_queue and kind = p_kind) is distinct from p_was then
    return '{"word":"ok","done":false}';
  end if;
  delete from register where queue = p_queue and kind = p_kind;
  if p_content is not null then insert into register values (p_queue, p_kind, next_number(p_queue), p_content); end if;
  perform changed(p_queue);
  return '{"word":"ok","done":true}';
end $$;
`;
