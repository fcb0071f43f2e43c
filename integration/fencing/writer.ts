import { isQueueLockError } from '@queuelock/core';
import { expectAccepted, type AnyFenceOutcome, type FencingHold } from '@queuelock/fencing';

export type Answer = 'accepted' | 'refused';

/** A client of a resource that writes the same text in two ways, each to a place of its own. */
interface Writer {
  fenced(text: string): Promise<Answer>;
  /** As programs do that trust in the lock alone. */
  unfenced(text: string): Promise<Answer>;
  close(): Promise<void>;
}

/** What `expectAccepted` says of it: a later holder refuses, all else is an error. */
export async function answerOf(answer: PromiseLike<AnyFenceOutcome>): Promise<Answer> {
  try {
    await expectAccepted(answer);
    return 'accepted';
  } catch (error) {
    if (isQueueLockError(error, 'OWNERSHIP_LOST')) return 'refused';
    throw error;
  }
}

/** What a place says now. */
export interface Texts {
  readonly fenced: string;
  readonly unfenced: string;
}

/** A kind of resource, for both processes of a story. `place` says where it is, in one text. */
export interface Resource {
  /** Connects, with what one knew when one held the lock. */
  open(place: string, hold: FencingHold): Promise<Writer>;
  texts(place: string): Promise<Texts>;
}

export type ResourceKind = 'etcd' | 'znode' | 'postgres' | 'mariadb' | 'sqlite' | 'http';

/** Loaded when asked for, so that a process has only what it needs. */
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
