// Compares the public API of every package with its reviewed report packages/<p>/api/*.api.md. With --update
// it writes the reports.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import {
  CompilerState,
  Extractor,
  ExtractorConfig,
  ExtractorLogLevel,
  type IConfigFile,
  type IExtractorInvokeOptions,
} from '@microsoft/api-extractor';
import { publicPackages, type PublicPackage } from './packages.ts';

const SILENT = { logLevel: ExtractorLogLevel.None };

// Leaves out the export condition that this workspace adds for its own TypeScript sources. So an import of a
// dependency resolves to its built types, as it does for users.
const compilerOptions = {
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  types: ['node'],
};

const messages: NonNullable<IConfigFile['messages']> = {
  extractorMessageReporting: {
    // Types that the public API uses without exporting them are listed in the report.
    'ae-forgotten-export': { ...SILENT, addToApiReportFile: true },
    'ae-missing-release-tag': SILENT,
  },
  // TypeDoc checks the contents of docstrings, so API Extractor does not.
  tsdocMessageReporting: { default: SILENT },
};

const invokeOptions: IExtractorInvokeOptions = {
  localBuild: process.argv.includes('--update'),
  printApiReportDiff: true,
  messageCallback: (message) => {
    if (message.logLevel === ExtractorLogLevel.Info) message.handled = true;
  },
};

/**
 * Returns the settings for the report of one entry point of a package. The report is named `core` for `.`,
 * and `core-backend` for `./backend`.
 */
function configOf({ name, folder }: PublicPackage, door: string, types: string): ExtractorConfig {
  const apiReport = {
    enabled: true,
    reportFileName: [name, ...door.split('/').slice(1)].join('-'),
    reportFolder: join(folder, 'api'),
    reportTempFolder: join(folder, 'dist/.api'),
  };
  mkdirSync(apiReport.reportFolder, { recursive: true });
  const configObject: IConfigFile = {
    projectFolder: folder,
    mainEntryPointFilePath: join(folder, types),
    compiler: { overrideTsconfig: { compilerOptions } },
    apiReport,
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    messages,
  };
  const packageJsonFullPath = join(folder, 'package.json');
  return ExtractorConfig.prepare({ configObject, configObjectFullPath: undefined, packageJsonFullPath });
}

const doors = publicPackages().flatMap((one) =>
  one.doors.map(([door, types]) => ({
    door: join('@queuelock', one.name, door),
    config: configOf(one, door, types),
  })),
);
/**
 * Returns one compiler state for all entry points of the packages, so that the compiler reads the core and
 * the libraries only once.
 */
function asOneProgram([first, ...others]: readonly ExtractorConfig[]): CompilerState {
  if (first === undefined) throw new Error('there are no packages to publish here');
  const additionalEntryPoints = others.map(({ mainEntryPointFilePath }) => mainEntryPointFilePath);
  return CompilerState.create(first, { additionalEntryPoints });
}

const compilerState = asOneProgram(doors.map(({ config }) => config));
const different = doors
  .filter(({ config }) => !Extractor.invoke(config, { ...invokeOptions, compilerState }).succeeded)
  .map(({ door }) => door);
if (different.length > 0) {
  console.error(`Not as in the reviewed report: ${different.join(', ')}. If that is intended: pnpm api`);
  process.exitCode = 1;
}
