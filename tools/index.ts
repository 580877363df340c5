/** The real programs behind tests and demo: found on PATH, or made once into a cache outside the repository. */
export { cacheDir } from './cache.ts';
export { ensureTools, type Tool } from './ensure-tools.ts';
export { toolNames, usualTools, versions, type ToolName } from './programs.ts';
export { createReporter, silentReporter, type Reporter, type Step } from './progress.ts';
export { pulumiEnvironment, type PulumiEnvironmentOptions } from './pulumi-environment.ts';
export { npmBinFolder, repositoryRoot } from './repository.ts';
export { ToolError, type ToolErrorCode } from './tool-error.ts';
