import { answer } from './answer.ts';
import { hideArguments } from './secrets.ts';

const EXIT_WITHIN_MS = 1_000;

hideArguments(process.argv);
// Nobody reads the complaints any more: no reason to end in the middle of something.
process.stderr.on('error', () => undefined);
const failed = await answer(process.argv);
if (failed !== undefined) process.exitCode = failed;
// Everything is closed here. Should a client library have left a handle open, it must not keep a script waiting.
setTimeout(() => {
  process.exit();
}, EXIT_WITHIN_MS).unref();
