// Loads TypeScript only as ES modules. If Node can require() an ES module, mocha tries that first, and hides
// the error in a test file behind the error of that attempt. Mocha reads a feature flag of Node, which this
// file turns off.
import { fileURLToPath } from 'node:url';
import { register } from 'tsx/esm/api';

register({ tsconfig: fileURLToPath(new URL('./tsconfig.tsx.json', import.meta.url)) });

Object.defineProperty(process.features, 'require_module', { value: false });
