// Checks the packages as their users get them: packs each one, then asks publint and attw about the tarball.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { publicPackages } from './packages.ts';

/** Runs a command in silence; what it printed comes out if it fails. */
function run(command: string, ...args: string[]): void {
  try {
    execFileSync(command, args, { stdio: 'pipe', encoding: 'utf8' });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${command} ${args.join(' ')}\n${stdout}${stderr}`);
  }
}

const tarballs = mkdtempSync(join(tmpdir(), 'queuelock-pack-'));
try {
  for (const { name, folder, doors } of publicPackages()) {
    const tarball = join(tarballs, `${name}.tgz`);
    run('pnpm', '--dir', folder, 'pack', '--out', tarball);
    run('publint', 'run', tarball, '--strict');
    // A command without exports has no types to resolve.
    if (doors.length > 0) run('attw', tarball, '--profile', 'esm-only', '--format', 'ascii');
    console.log(`@queuelock/${name}: packed and checked`);
  }
} finally {
  rmSync(tarballs, { recursive: true });
}
