import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Backend, Session } from '@queuelock/core/backend';
import { signal } from '@queuelock/harness/specs';
import { sqlite } from '@queuelock/sqlite';

/** Backends over files in a directory of their own. The constructor defines the hooks of the suite. */
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
