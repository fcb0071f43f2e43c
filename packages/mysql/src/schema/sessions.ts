import { BEGIN, OR_ROLLBACK, SESSION } from './line.ts';

/** Procedures that resume, renew, read and end sessions. */
export const SESSIONS: ReadonlyMap<string, string> = new Map([
  // Resumes a session for a new client. Returns the session's present entries: earlier clients of the session
  // added them.
  [
    'queuelock_resume',
    `(in p_session char(32) character set ascii)
begin
  declare v_generation int;
  ${OR_ROLLBACK}
  call queuelock_sweep();
  ${BEGIN}
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
end`,
  ],
  // Renews the lease of a session. Returns how many entries of the session were evicted and how many it has.
  // If the client expected other counts, the client has missed a change and reads all of the session's
  // entries with `queuelock_look`.
  [
    'queuelock_renew',
    `(${SESSION})
begin
  update queuelock_session set expires = utc_timestamp(6) + interval ttl microsecond
    where id = p_session and generation = p_generation and expires > utc_timestamp(6);
  if exists (select 1 from queuelock_session where id = p_session and generation = p_generation and expires > utc_timestamp(6)) then
    select 'ok' as word, lost as a, (select count(*) from queuelock_entry where session = p_session) as b
      from queuelock_session where id = p_session;
  else
    select 'lost' as word;
  end if;
end`,
  ],
  [
    'queuelock_look',
    `(${SESSION})
begin
  ${OR_ROLLBACK}
  call queuelock_sweep();
  if exists (select 1 from queuelock_session where id = p_session and generation = p_generation) then
    select 'ok' as word, lost as a from queuelock_session where id = p_session;
    select 'entry' as word, queue as a, ord as b, id as c, admitted as d from queuelock_entry where session = p_session;
  else
    select 'lost' as word;
  end if;
end`,
  ],
  [
    'queuelock_end',
    `(${SESSION})
begin
  ${OR_ROLLBACK}
  update queuelock_session set expires = '1970-01-01' where id = p_session and generation = p_generation;
  if row_count() > 0 then
    call queuelock_bury(p_session);
  end if;
  select 'ok' as word;
end`,
  ],
]);
