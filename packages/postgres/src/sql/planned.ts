/**
 * How the statements of a step are planned, whatever the server and its statistics say: by the indices, in order, once for each connection.
 * What has no index, as the only row of `store`, is dear to that reckoning, and would be compiled to machine code, which takes a hundred times as long as it.
 */
export const PLANNED = `set search_path = queuelock, pg_catalog, pg_temp
set enable_seqscan = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan set jit = off`;
