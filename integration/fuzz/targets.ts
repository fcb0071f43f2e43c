/**
 * The modules with code to fuzz, by the name of the target. A module that uses internals of a package is in
 * the folder test/fuzz of that package.
 */
const MODULES = {
  jute: '../../packages/zookeeper/test/fuzz/jute.ts',
  nodes: '../../packages/zookeeper/test/fuzz/nodes.ts',
  grpc: '../../packages/etcd/test/fuzz/grpc.ts',
  http2: '../../packages/etcd/test/fuzz/http2.ts',
  frames: '../../packages/etcd/test/fuzz/frames.ts',
  socket: '../../packages/etcd/test/fuzz/socket.ts',
  labels: '../../packages/core/test/fuzz/labels.ts',
  redis: '../../packages/redis/test/fuzz/replies.ts',
  consul: 'targets/consul.ts',
  'bridge-server': 'targets/bridge-server.ts',
  'bridge-client': 'targets/bridge-client.ts',
} as const;

export type TargetName = keyof typeof MODULES;

/** The names of all targets. */
export const TARGETS = Object.keys(MODULES) as readonly TargetName[];

/** Returns the URL of a target's module. */
export function moduleOf(target: TargetName): string {
  return new URL(MODULES[target], import.meta.url).href;
}
