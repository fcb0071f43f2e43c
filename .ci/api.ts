// Compares the public surface of every package with its reviewed report packages/<p>/api/*.api.md; --update writes them.
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

// The users' view: without the workspace's own export condition, so that a dependency means its built types.
const compilerOptions = {
  module: 'nodenext',
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  types: ['node'],
};

const messages: NonNullable<IConfigFile['messages']> = {
  extractorMessageReporting: {
    // Used by the surface without being exported: the report lists them.
    'ae-forgotten-export': { ...SILENT, addToApiReportFile: true },
    'ae-missing-release-tag': SILENT,
  },
  // What a comment must say is for typedoc to check.
  tsdocMessageReporting: { default: SILENT },
};

const invokeOptions: IExtractorInvokeOptions = {
  localBuild: process.argv.includes('--update'),
  printApiReportDiff: true,
  messageCallback: (message) => {
    if (message.logLevel === ExtractorLogLevel.Info) message.handled = true;
  },
};

/** What the report of one door is made of: `core` for `.`, `core-backend` for `./backend`. */
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
/** The core and the libraries are read once. */
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
