import { readFileSync, readdirSync, readlinkSync } from 'node:fs';

/** Returns whether a process with this id exists. */
export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/**
 * Returns the addresses that a process listens on, in hexadecimal digits as Linux writes them:
 * `0100007F:0050` is 127.0.0.1:80.
 */
export function listeningOf(pid: number): string[] {
  const sockets = new Set(
    readdirSync(`/proc/${String(pid)}/fd`).map((fd) => readlinkSync(`/proc/${String(pid)}/fd/${fd}`)),
  );
  return ['tcp', 'tcp6']
    .flatMap((table) => readFileSync(`/proc/net/${table}`, 'utf8').trim().split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , state, , , , , , inode]) => state === '0A' && sockets.has(`socket:[${String(inode)}]`))
    .map(([, address]) => address ?? '');
}
