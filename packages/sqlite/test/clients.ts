import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, Session } from '@queuelock/core/backend';
import { signal } from '@queuelock/harness/specs';
import { sqlite } from '@queuelock/sqlite';

/**
 * Creates backends over lock files in a new directory. The constructor registers mocha hooks that close and
 * remove them.
 */
export class Clients {
  directory = '';
  readonly #backends: Backend[] = [];

  constructor() {
    beforeEach(() => {
      this.directory = mkdtempSync(join(tmpdir(), 'queuelock-test-'));
    });
    afterEach(async () => {
      await Promise.all(this.#backends.splice(0).map((backend) => backend.close()));
      rmSync(this.directory, { recursive: true });
    });
  }

  get file(): string {
    return join(this.directory, 'locks.db');
  }

  connect(file: string = this.file): Backend {
    const backend = sqlite({ file });
    this.#backends.push(backend);
    return backend;
  }

  async session(backend: Backend = this.connect(), ttlMs = 10_000): Promise<Session> {
    return backend.open(ttlMs, signal);
  }
}
