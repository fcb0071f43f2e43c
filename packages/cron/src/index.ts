export { oncePerTick } from './once-per-tick.ts';
export type { TickJob, TickJobOptions, TickWork } from './tick-job-api.ts';
export { fromCron, lastCronTick, type CronJobLike, type CronTimeLike, type MomentLike } from './from-cron.ts';
export { fromCroner, type CronerJobLike } from './from-croner.ts';
export { fromNodeCron, type NodeCronContext } from './from-node-cron.ts';
export { fromNodeSchedule } from './from-node-schedule.ts';
export { runCoordinator, type RunCoordinator, type RunCoordinatorOptions } from './run-coordinator.ts';
