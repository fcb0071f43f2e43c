/**
 * Planner settings of all steps, so that they do not depend on the server's settings and statistics. Steps
 * read by indexes only, and use one query plan for each connection.
 * With these settings the planner estimates high costs for a scan without an index, such as that of the only
 * row of `store`. The server would therefore compile the query to machine code (JIT), which takes a hundred
 * times as long as the scan. So JIT is off.
 */
export const PLANNED = `set search_path = queuelock, pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan set jit = off`;
