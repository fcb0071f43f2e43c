// Runs TypeScript as ES modules, and only as those. Where Node can require() an ES module, mocha tries that first
// and reports the error of the attempt instead of the error in the test file; it asks this feature flag.
import 'tsx/esm';

Object.defineProperty(process.features, 'require_module', { value: false });
