import 'reflect-metadata';
import type { INestApplication, LoggerService, ModuleMetadata } from '@nestjs/common';
import { Test, type TestingModuleBuilder } from '@nestjs/testing';
import { createLockClient, type LockClient } from '@queuelock/core';
import { createMemoryServer, memory, type MemoryServer } from '@queuelock/memory';

const SILENT: LoggerService = { log: () => undefined, error: () => undefined, warn: () => undefined };

/** Returns the builder of a testing module that logs nothing. */
export function testingModule(metadata: ModuleMetadata): TestingModuleBuilder {
  return Test.createTestingModule(metadata).setLogger(SILENT);
}

/**
 * Starts the applications of one test. The lock client `other` contends with them for locks, as another
 * process would.
 */
export class Applications {
  readonly server: MemoryServer = createMemoryServer();
  readonly other: LockClient = createLockClient(memory({ server: this.server }), { owner: 'other' });
  readonly #open: INestApplication[] = [];

  /** Starts an application with an HTTP server on a free port of this machine. */
  async start(
    builder: TestingModuleBuilder,
  ): Promise<{ readonly app: INestApplication; readonly url: string }> {
    const app = (await builder.compile()).createNestApplication();
    this.#open.push(app);
    await app.listen(0, '127.0.0.1');
    return { app, url: await app.getUrl() };
  }

  async close(): Promise<void> {
    for (const app of this.#open.splice(0)) await app.close();
    await this.other.close();
  }
}
