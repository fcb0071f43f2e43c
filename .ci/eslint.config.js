import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'eslint/config';
import rxjs from 'eslint-plugin-rxjs-x';
import tseslint from 'typescript-eslint';

const BACKENDS = ['memory', 'etcd', 'zookeeper', 'sqlite', 'redis', 'postgres', 'mysql', 'consul'];
const PACKAGES = [
  'core',
  ...BACKENDS,
  'conformance',
  'fencing',
  'recipes',
  'cron',
  'nestjs',
  'bullmq',
  'bridge',
  'weblocks',
  'otel',
  'cli',
  'bench',
  'simulation',
  'harness',
];
const root = fileURLToPath(new URL('..', import.meta.url));
// With one program for all packages, shared types are checked once and not once for each package.
const programs = ['.ci/tsconfig.lint.json', 'packages/dashboard/src/page/tsconfig.json'];
const tests = ['packages/*/test/**/*.{ts,tsx}', 'integration/**/*.ts'];

// --- import rules between packages

const foreignSources = {
  regex: `^\\.\\..*/(${PACKAGES.join('|')})/(src|dist|test)/`,
  message: 'Import another package by its name.',
};
const unboundedOrUnclear = {
  name: 'rxjs',
  importNames: ['debounceTime', 'mergeMap', 'shareReplay', 'timeInterval'],
  message:
    'Write what is meant: switchMap, concatMap or exhaustMap; share({ ... }) with all options; our own clock.',
};
const rxDoor = {
  name: 'rxjs',
  allowTypeImports: true,
  message: "Import RxJS values through the package's rx.ts, which lists the vocabulary.",
};
const doors = (allowed, message) => ({ regex: `^@queuelock/(?!(${allowed})$)`, message });

function imports(files, paths, ...patterns) {
  return {
    files,
    rules: { 'no-restricted-imports': ['error', { paths, patterns: [foreignSources, ...patterns] }] },
  };
}

const sources = (...names) => names.map((name) => `packages/${name}/src/**/*.{ts,tsx}`);
const rxFiles = (...names) => names.map((name) => `packages/${name}/src/**/rx.ts`);

const noImports = doors('', 'The core imports no other package of ours.');
const authorsDoor = doors(
  'core/backend',
  'Backends and the conformance suite import @queuelock/core/backend only.',
);
const fencingDoors = doors(
  'core|core/backend',
  'Fencing imports types of @queuelock/core, errors of @queuelock/core/backend, and nothing else of ours.',
);
const recipesDoor = doors(
  'core|core/backend',
  'A recipe is made of what every user has, @queuelock/core, and of small tools of @queuelock/core/backend.',
);
const bridgeDoor = doors(
  'core|core/backend|recipes',
  'The bridge shows what every user sees: @queuelock/core, recipes, and small tools of @queuelock/core/backend.',
);
const cronDoors = doors(
  'core|core/backend|recipes',
  'Scheduled jobs are made of the recipes, types of @queuelock/core, and small tools of @queuelock/core/backend.',
);
const nestDoors = doors(
  'core|core/backend|recipes|cron|memory',
  'Nest gets clients of @queuelock/core, recipes and scheduled jobs; memory is for its tests alone.',
);

const bullmqDoors = doors(
  'core|core/backend',
  'Processors of jobs are made of types of @queuelock/core and small tools of @queuelock/core/backend.',
);
const inPages = [
  { regex: '^node:', message: 'This runs in pages too.' },
  { regex: '^@queuelock/', allowTypeImports: true, message: 'This runs in pages too: types only.' },
];
const weblocksDoor = doors(
  'core|core/backend',
  'Web locks are made of what every user has, @queuelock/core, and of small tools of @queuelock/core/backend.',
);
const otelDoor = doors('core', 'Traces and metrics are made of what the channels of @queuelock/core tell.');
const hookDoors = [
  inPages[0],
  doors('bridge/(client|wire)', 'Hooks import types of @queuelock/bridge/client and @queuelock/bridge/wire.'),
];
const pageDoors = [
  inPages[0],
  doors('react|bridge/(client|wire)', 'The page knows the hooks and what comes over the wire.'),
];
const usersDoor = doors(
  'core|recipes|bridge|dashboard',
  'The CLI imports @queuelock/core, recipes, the bridge and the page; it loads a backend by dynamic import.',
);

const boundaries = [
  imports(tests, [unboundedOrUnclear]),
  imports(sources('core'), [rxDoor], noImports),
  imports(rxFiles('core'), [unboundedOrUnclear], noImports),
  imports(sources(...BACKENDS, 'conformance'), [rxDoor], authorsDoor),
  imports(rxFiles(...BACKENDS, 'conformance'), [unboundedOrUnclear], authorsDoor),
  imports(sources('fencing'), [rxDoor], fencingDoors),
  imports(sources('recipes'), [rxDoor], recipesDoor),
  imports(rxFiles('recipes'), [unboundedOrUnclear], recipesDoor),
  imports(sources('cron'), [rxDoor], cronDoors),
  imports(sources('nestjs'), [rxDoor], nestDoors),
  imports(rxFiles('nestjs'), [unboundedOrUnclear], nestDoors),
  imports(sources('bullmq'), [rxDoor], bullmqDoors),
  imports(sources('bridge'), [rxDoor], bridgeDoor),
  imports(rxFiles('bridge'), [unboundedOrUnclear], bridgeDoor),
  imports(['packages/bridge/src/{client,wire}/**/*.ts'], [rxDoor], ...inPages),
  imports(sources('weblocks'), [rxDoor], weblocksDoor),
  imports(rxFiles('weblocks'), [unboundedOrUnclear], weblocksDoor),
  imports(sources('otel'), [rxDoor], otelDoor),
  imports(sources('react'), [rxDoor], ...hookDoors),
  imports(['packages/dashboard/src/index.ts'], [rxDoor], noImports),
  imports(['packages/dashboard/src/page/**/*.{ts,tsx}'], [rxDoor], ...pageDoors),
  imports(sources('cli'), [unboundedOrUnclear], usersDoor),
  imports(sources('bench', 'simulation', 'harness'), [unboundedOrUnclear]),
];

// --- forbidden syntax

const noDefaultExport = { selector: 'ExportDefaultDeclaration', message: 'Named exports only.' };
const noLongPipe = {
  selector: "CallExpression[callee.property.name='pipe'][arguments.length>5]",
  message: 'A pipe has at most five operators: name a part of it.',
};
const noPackageByImportCall = {
  selector: 'ImportExpression[source.value=/^@queuelock/]',
  message: 'Only the CLI chooses a backend at run time.',
};
const noWallClock = [
  {
    selector: "MemberExpression[object.name='Date'][property.name='now']",
    message: 'Wall time jumps: take the time from the Clock.',
  },
  {
    selector: "NewExpression[callee.name='Date']",
    message: 'Wall time jumps: take the time from the Clock.',
  },
];
const noShould = {
  selector: 'CallExpression[callee.name=/^(it|describe)$/] > Literal[value=/\\bshould\\b/]',
  message: 'A title states a fact in the present tense.',
};
const syntax = (files, ...restricted) => ({
  files,
  rules: { 'no-restricted-syntax': ['error', noDefaultExport, noLongPipe, ...restricted] },
});

// --- rules for streams

// Rules that need types are slow, so they run only on files that import or name a stream.
const STREAM = /rx\.ts|Observable|subscribe|\w\$(?!\{)/;
const hasStreams = (path) => STREAM.test(readFileSync(path, 'utf8'));

export default defineConfig(
  { ignores: ['**/dist/**', '**/*.js', '**/*.mjs'] },
  {
    files: ['**/*.{ts,tsx}'],
    languageOptions: { parser: tseslint.parser },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
  },
  {
    files: [[...sources('*'), hasStreams]],
    extends: [rxjs.configs.strict],
    languageOptions: { parserOptions: { project: programs, tsconfigRootDir: root } },
    rules: {
      // The rule also checks functions that are properties.
      'rxjs-x/finnish': [
        'error',
        { functions: false, methods: false, strict: true, names: { '^(watch|observe|queues)$': false } },
      ],
    },
  },
  boundaries,
  syntax(['**/*.{ts,tsx}']),
  syntax(
    sources('core', ...BACKENDS, 'fencing', 'recipes', 'bridge', 'weblocks', 'otel'),
    noPackageByImportCall,
    ...noWallClock,
  ),
  syntax(sources('conformance'), noPackageByImportCall),
  syntax(tests, noShould),
);
