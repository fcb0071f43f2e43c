import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { ROOT } from '../pages/scratch.ts';

/** The part of Prisma's client that a fence uses. */
export interface PrismaTransaction {
  $queryRaw(strings: TemplateStringsArray, ...values: unknown[]): PromiseLike<unknown>;
  $executeRaw(strings: TemplateStringsArray, ...values: unknown[]): PromiseLike<number>;
}

interface PrismaClient extends PrismaTransaction {
  $transaction<T>(
    work: (tx: PrismaTransaction) => Promise<T>,
    options?: { readonly timeout: number },
  ): Promise<T>;
  $disconnect(): Promise<void>;
}
type PrismaClientClass = new (options: { readonly adapter: unknown }) => PrismaClient;

const PROVIDERS = { postgres: 'postgresql', mysql: 'mysql' } as const;
const folders: string[] = [];

/** Generates Prisma's client for a database and imports it. The folder is removed by `removePrismaClients`. */
export async function loadPrismaClient(dialect: keyof typeof PROVIDERS): Promise<PrismaClientClass> {
  const folder = mkdtempSync(join(ROOT, 'integration', 'node_modules', '.prisma-'));
  folders.push(folder);
  const schema = `
    generator client {
      provider   = "prisma-client"
      output     = "./client"
      engineType = "client"
    }
    datasource db {
      provider = "${PROVIDERS[dialect]}"
    }
    model payments {
      id String @id
    }
  `;
  writeFileSync(join(folder, 'schema.prisma'), schema);
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  await generate(folder);
  const { PrismaClient } = (await import(pathToFileURL(join(folder, 'client/client.ts')).href)) as {
    readonly PrismaClient: PrismaClientClass;
  };
  return PrismaClient;
}

export function removePrismaClients(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
}

async function generate(folder: string): Promise<void> {
  const program = join(createRequire(import.meta.url).resolve('prisma/package.json'), '../build/index.js');
  // Prisma downloads its migration engine unless a path is given. Generating a client does not run the
  // engine, so the path of any program suffices.
  const env = { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' };
  const args = [program, 'generate', '--schema', join(folder, 'schema.prisma')];
  await promisify(execFile)(process.execPath, args, { cwd: folder, env });
}
