/**
 * muster: register Kubernetes clusters with a hub, as code. This entry holds the Pulumi resources; see the sub-paths
 * `pulumi-muster/constructs` (cdk8s), `pulumi-muster/api` (kinds, names, validation) and `pulumi-muster/runtime`.
 */
export { MusterError, isMusterError, type ErrorCode } from './api/errors.ts';
