/** The targets, each a module in `targets/`. */
export const TARGETS = [
  'jute',
  'grpc',
  'http2',
  'labels',
  'redis',
  'consul',
  'bridge-server',
  'bridge-client',
] as const;

export type TargetName = (typeof TARGETS)[number];
