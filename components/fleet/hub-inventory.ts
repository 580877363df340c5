/** Rights and fences of the hub for publishing clusters: as ClusterProfiles, and to an Argo CD (decision 10). */
import type { Construct } from 'constructs';
import { MusterError } from '../../api/errors.ts';
import { labels, managedByMuster } from '../../api/fleet/constants.ts';
import type { ArgoCDConfig } from '../../api/fleet/inventory-config.ts';
import { argoCDProblems } from '../../api/fleet/inventory-config.ts';
import type { PolicyRule } from '../../api/kubernetes/rbac.ts';
import { clusterManager, group as multicluster, version } from '../../api/multicluster/constants.ts';
import { argoCDClusterAnnotation, argoCDSecretType } from './argocd-names.ts';
import { addBinding, addRole } from './chart-rbac.ts';
import { onlyTheFinalizer } from './hub-sources.ts';
import { hubNames, policyNames, workspaceLabel } from './names.ts';
import { addPolicy, cel, inNamespaceLabelled } from './policy.ts';
import type { NamedExpression, Policy } from './policy.ts';

/**
 * The hub in Argo CD's namespace, where the Secrets of others are: it writes, and reads nothing. RBAC cannot limit a
 * creation to names, nor a list to labels; what it may write is held by policy muster-hub-argocd.
 */
export const argoCDRules: readonly PolicyRule[] = [
  { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'patch', 'delete'] },
];

/** Profiles are told apart by their manager, which the kind does not let anybody change. */
export function profilesPolicy(): Policy {
  const ours = (object: string): string => `${object}.spec.clusterManager.name == ${cel(clusterManager)}`;
  const workspace = inNamespaceLabelled(workspaceLabel);
  return {
    name: policyNames.hubProfiles,
    rules: [
      {
        apiGroups: [multicluster],
        apiVersions: [version],
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: ['clusterprofiles', 'clusterprofiles/status'],
      },
    ],
    validations: [
      {
        expression:
          `(request.operation == "DELETE" ? (${ours('oldObject')}) : (${ours('object')} && ${workspace})) || ` +
          // those of others can be sources of registrations (hub-sources.ts)
          `(request.operation == "UPDATE" && ${onlyTheFinalizer('?spec', '?status')})`,
        message: `the hub may only keep ClusterProfiles of cluster manager ${clusterManager}, in workspaces`,
      },
      {
        expression: `request.operation != "UPDATE" || (${ours('oldObject')}) || (${onlyTheFinalizer('?spec', '?status')})`,
        message: `the hub may only touch ClusterProfiles of cluster manager ${clusterManager}`,
      },
    ],
  };
}

/** In Argo CD's namespace the hub keeps Secrets of clusters that it made, and touches no other. */
function argoCDPolicy(isHub: NamedExpression, namespace: string): Policy {
  const label = (object: string, key: string): string => `${object}.metadata.?labels[?${cel(key)}].orValue("")`;
  const ours = (object: string): string =>
    [
      `${object}.metadata.name.startsWith("cluster-")`,
      `${label(object, argoCDSecretType.key)} == ${cel(argoCDSecretType.value)}`,
      `${label(object, labels.managedBy)} == ${cel(managedByMuster)}`,
      `${object}.metadata.?annotations[?${cel(argoCDClusterAnnotation)}].orValue("") != ""`,
      `${object}.type == "Opaque"`,
    ].join(' && ');
  return {
    name: policyNames.hubArgoCD,
    rules: [
      { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['secrets'] },
    ],
    matchConditions: [isHub, { name: 'in-argocd', expression: `request.namespace == ${cel(namespace)}` }],
    validations: [
      {
        expression: `request.operation == "DELETE" || (${ours('object')})`,
        message: 'the hub may only write Secrets of clusters that it publishes to Argo CD',
      },
      {
        expression: `request.operation == "CREATE" || (${ours('oldObject')})`,
        message: 'the hub may only touch Secrets of clusters that it published to Argo CD',
      },
    ],
  };
}

/**
 * What the hub needs in Argo CD's namespace, which has to be there. Throws INVALID_ARGUMENT for settings that the hub
 * could not use.
 */
export function addArgoCDRights(
  scope: Construct,
  { system, argoCD }: { readonly system: string; readonly argoCD: ArgoCDConfig },
  isHub: NamedExpression,
): void {
  const [problem] = argoCDProblems(argoCD);
  if (problem !== undefined) {
    throw new MusterError('INVALID_ARGUMENT', problem, {
      where: 'config.inventory.argoCD',
      hint: 'See docs/inventory.md for what can be set.',
    });
  }
  const common = { [labels.managedBy]: managedByMuster };
  const { namespace } = argoCD;
  addPolicy(scope, argoCDPolicy(isHub, namespace), common);
  addRole(scope, { name: hubNames.argoCD, namespace, labels: common, rules: argoCDRules });
  addBinding(scope, {
    name: hubNames.argoCD,
    namespace,
    labels: common,
    roleRef: { kind: 'Role', name: hubNames.argoCD },
    subjects: [{ kind: 'ServiceAccount', name: hubNames.serviceAccount, namespace: system }],
  });
}
