/** Rights of the hub on the sources that rules register, and what fences them. Every line has its reason. */
import { ClusterAPIClusters, group as clusterAPI } from '../../api/cluster-api/cluster.ts';
import { conditionTypes } from '../../api/conditions.ts';
import { annotations as fleetAnnotations, group as fleet } from '../../api/fleet/constants.ts';
import type { PolicyRule } from '../../api/kubernetes/rbac.ts';
import { annotations, group as muster, labels, registrationFinalizer } from '../../api/muster/constants.ts';
import { group as multicluster } from '../../api/multicluster/constants.ts';
import { policyNames, workspaceLabel } from './names.ts';
import { cel, inNamespaceLabelled } from './policy.ts';
import type { NamedExpression, Policy } from './policy.ts';

const read = ['get', 'list', 'watch'];

/** For hubClusterRules. */
export const sourceRules: readonly PolicyRule[] = [
  // What is to be registered. Only administrators write rules: a rule moves credentials between namespaces.
  { apiGroups: [muster], resources: ['registrationrules'], verbs: read },
  // Counters and conditions.
  { apiGroups: [muster], resources: ['registrationrules/status'], verbs: ['patch', 'update'] },
  // Clusters of Cluster API, and the one finalizer that holds them until they are detached: policy muster-hub-sources.
  { apiGroups: [clusterAPI], resources: ['clusters'], verbs: [...read, 'patch'] },
  // The same for ClusterProfiles of others: policy muster-hub-profiles.
  { apiGroups: [multicluster], resources: ['clusterprofiles'], verbs: [...read, 'patch'] },
  // A registration ends with its source, a group with its last registration, and what the hub made for a request that
  // had a Cluster of its own goes again. Which: policy muster-hub-deletions.
  { apiGroups: [fleet], resources: ['clusters'], verbs: ['delete'] },
  { apiGroups: [fleet], resources: ['clustergroups'], verbs: ['create', 'patch', 'delete'] },
  // Whether these kinds are installed, and in which version; by name, no other definitions.
  {
    apiGroups: ['apiextensions.k8s.io'],
    resources: ['customresourcedefinitions'],
    resourceNames: [`clusters.${clusterAPI}`, `registrationrules.${muster}`],
    verbs: read,
  },
];

/** ClusterRole muster-hub-source: the hub in a namespace that holds sources and is no workspace. */
export const hubSourceRules: readonly PolicyRule[] = [
  // Kubeconfigs of sources. `patch` for the one finalizer that holds a Secret: policy muster-hub-sources.
  { apiGroups: [''], resources: ['secrets'], verbs: [...read, 'patch'] },
];

const finalizers = (object: string): string =>
  `${object}.metadata.?finalizers.orValue([]).filter(name, name != ${cel(registrationFinalizer)})`;

/**
 * CEL: an update that changes nothing but the presence of our finalizer. `fields` are those beside metadata; they are
 * untyped, as a policy is checked against every kind that it matches, and not each of them has all.
 */
export function onlyTheFinalizer(...fields: string[]): string {
  const kept = ['metadata.?labels', 'metadata.?annotations', 'metadata.?ownerReferences'];
  return [
    ...kept.map((field) => `object.${field} == oldObject.${field}`),
    ...fields.map((field) => `dyn(object).${field} == dyn(oldObject).${field}`),
    `${finalizers('object')} == ${finalizers('oldObject')}`,
  ].join(' && ');
}

const isWorkspace = inNamespaceLabelled(workspaceLabel);

/** A Cluster that the hub made for a request while the one declared for it was on its way: no agent has ever used it. */
const madeInVain =
  `(oldObject.metadata.?annotations[?${cel(fleetAnnotations.requestedBy)}].orValue("") != "" && ` +
  `!dyn(oldObject).?status.?agent.?lastSeen.hasValue() && !dyn(oldObject).?status.?conditions.orValue([])` +
  `.exists(c, c.type == ${cel(conditionTypes.registered)} && c.status == "True"))`;

/** Fences of the hub: of sources it changes its finalizer only; it deletes what it made for them only. */
export function sourceFences(): Policy[] {
  const message = `of a source the hub may change finalizer ${registrationFinalizer} only`;
  return [
    {
      name: policyNames.hubSources,
      rules: [
        {
          apiGroups: [clusterAPI],
          apiVersions: ClusterAPIClusters.map(({ version }) => version),
          operations: ['UPDATE'],
          resources: ['clusters'],
        },
        { apiGroups: [''], apiVersions: ['v1'], operations: ['UPDATE'], resources: ['secrets'] },
      ],
      validations: [
        {
          expression: `request.resource.resource != "clusters" || (${onlyTheFinalizer('?spec', '?status')})`,
          message,
        },
        {
          expression:
            `request.resource.resource != "secrets" || ${isWorkspace} || ` +
            `namespaceObject.metadata.?labels[?${cel(labels.source)}].orValue("") != "true" || ` +
            `(${onlyTheFinalizer('?data', '?type', '?immutable')})`,
          message,
        },
      ],
    },
    {
      name: policyNames.hubDeletions,
      rules: [
        {
          apiGroups: [fleet],
          apiVersions: ['v1alpha1'],
          operations: ['DELETE'],
          resources: ['clusters', 'clustergroups'],
        },
      ],
      validations: [
        {
          expression:
            'request.resource.resource == "clusters" ? ' +
            `(oldObject.metadata.?annotations[?${cel(annotations.source)}].orValue("") != "" || ${madeInVain}) : ` +
            `oldObject.metadata.?labels[?${cel(labels.clusterGroup)}].orValue("") == oldObject.metadata.name`,
          message:
            'the hub may delete only Clusters and ClusterGroups that a rule made, and Clusters that it made for a request ' +
            'and that were never registered',
        },
      ],
    },
  ];
}

/**
 * Marks that say which source a Cluster was made for, and where its kubeconfig is, are the hub's testimony: whoever could
 * write them could have the hub use a kubeconfig of any namespace of sources. Who may write rules could anyway.
 */
export function sourceMarks(isHub: NamedExpression): Policy {
  const marks = [annotations.source, annotations.sourceUid, annotations.kubeconfig, annotations.endpoint];
  const mark = (object: string): string => `${object}.metadata.?annotations[?key].orValue("")`;
  return {
    name: policyNames.sourceMarks,
    rules: [
      { apiGroups: [fleet], apiVersions: ['v1alpha1'], operations: ['CREATE', 'UPDATE'], resources: ['clusters'] },
    ],
    matchConditions: [{ name: 'is-not-the-hub', expression: `!(${isHub.expression})` }],
    validations: [
      {
        expression:
          `[${marks.map(cel).join(', ')}].all(key, ${mark('object')} == "" || ` +
          `(request.operation == "UPDATE" && ${mark('object')} == ${mark('oldObject')})) || ` +
          'authorizer.group("muster.dev").resource("registrationrules").check("create").allowed()',
        message: `only the hub, and who may create RegistrationRules, may set ${marks.join(', ')}`,
      },
    ],
  };
}
