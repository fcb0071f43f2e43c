import { answer } from './answer.ts';
import { hideArguments } from './secrets.ts';

const EXIT_WITHIN_MS = 1_000;

hideArguments(process.argv);
// A closed stderr is ignored: a lost message is no reason to end a command in the middle of its work.
process.stderr.on('error', () => undefined);
const failed = await answer(process.argv);
if (failed !== undefined) process.exitCode = failed;
// By now everything of queuelock is closed. A handle that a client library has left open must not keep a
// script waiting.
setTimeout(() => {
  process.exit();
}, EXIT_WITHIN_MS).unref();
