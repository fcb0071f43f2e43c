// Runs TypeScript as ES modules, and only as those. Where Node can require() an ES module, mocha tries that first
// and reports the error of the attempt instead of the error in the test file; it asks this feature flag.
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';

register({ tsconfig: fileURLToPath(new URL('./tsconfig.tsx.json', import.meta.url)) });

Object.defineProperty(process.features, 'require_module', { value: false });
