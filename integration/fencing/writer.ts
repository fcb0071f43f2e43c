import type { Resource, ResourceKind } from './resource.ts';

/**
 * Loads the module for a kind of resource on demand, so that a process loads only the client library that it
 * needs.
 */
export async function resourceOf(kind: ResourceKind): Promise<Resource> {
  switch (kind) {
    case 'etcd':
      return (await import('./etcd-resource.ts')).etcdResource;
    case 'znode':
      return (await import('./znode-resource.ts')).znodeResource;
    case 'http':
      return (await import('./http-resource.ts')).httpResource;
    case 'postgres':
    case 'mariadb':
    case 'sqlite': {
      const [{ sqlResource }, { databaseOf }] = await Promise.all([
        import('./sql-resource.ts'),
        import('./databases.ts'),
      ]);
      return sqlResource(databaseOf(kind));
    }
  }
}
