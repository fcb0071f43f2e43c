/**
 * Planner settings of all steps, independent of the server's settings and statistics: indexes in order, and one plan for each connection. With
 * these settings, a scan without an index, as of the only row of `store`, has a high estimated cost. The server would compile it to machine
 * code (JIT), which takes a hundred times as long as the scan, so JIT is off.
 */
export const PLANNED = `set search_path = queuelock, pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan set jit = off`;
