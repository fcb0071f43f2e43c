import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from './programs.ts';
import { isPrepared } from './prepared.ts';
import { NotHere } from './service.ts';

const run = promisify(execFile);

// Shell script that installs Debian packages. Processes run it one at a time, under a file lock, because
// apt-get update does not wait for another one. It tries the present package lists first, and updates them
// only if that fails. While it runs, packages do not start their services: exit code 101 of policy-rc.d
// forbids that to Debian's scripts. An existing policy-rc.d stays unchanged.
const SCRIPT = `
  set -e
  policy=/usr/sbin/policy-rc.d
  if [ ! -e $policy ]; then
    trap 'rm -f $policy' EXIT
    printf '#!/bin/sh\\nexit 101\\n' > $policy
    chmod 755 $policy
  fi
  install() { apt-get install -y --no-install-recommends -o DPkg::Lock::Timeout=300 "$@"; }
  install "$@" || { apt-get update && install "$@"; }
`;
const LOCK = '/var/lock/queuelock-apt.lock';
const WITHIN_MS = 600_000;

/**
 * Installs Debian packages without starting any service. Rejects when this process may not or cannot install.
 * It also rejects in a test run that has installed its programs beforehand, because an installation would then
 * count towards the timeout of a test.
 */
export async function installPackages(packages: readonly string[]): Promise<void> {
  if (isPrepared()) throw new NotHere(`not installed before the tests: ${packages.join(' ')}`);
  if (process.getuid?.() !== 0) throw new NotHere('not installed, and only root can install packages');
  if ((await findProgram('apt-get')) === undefined)
    throw new NotHere('not installed, and there is no apt-get');
  const args = ['-w', String(WITHIN_MS / 1000), LOCK, 'sh', '-c', SCRIPT, 'sh', ...packages];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  try {
    await run('flock', args, { env, timeout: WITHIN_MS, maxBuffer: 64 * 1024 * 1024 });
  } catch (error) {
    const lines = ((error as { stderr?: string }).stderr ?? '').trim().split('\n');
    throw new NotHere(
      `not installed, and apt-get install ${packages.join(' ')} failed: ${lines.at(-1) ?? ''}`,
      { cause: error },
    );
  }
}
