/** The cluster inventory of SIG Multicluster. Loads zod; programs that must stay small import the files they need. */
export * from './cluster-profile.ts';
export * from './constants.ts';
export { ClusterProfiles, clusterProfileDefinition } from './kinds.ts';
