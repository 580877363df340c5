/** What each condition type and reason means; the texts of docs/reference/conditions.md. */
import type { Reason, conditionTypes } from './conditions.ts';
import type { Meaning } from './error-meanings.ts';

type ConditionType = (typeof conditionTypes)[keyof typeof conditionTypes];

export const conditionMeanings: Readonly<Record<ConditionType, string>> = {
  Processed: 'Cluster: its namespace on the hub exists.',
  Imported: 'Cluster with a kubeconfig: the agent was installed downstream.',
  Reconciled: 'Cluster: the agent was installed with the settings that spec has now.',
  Registered: 'Cluster: a request was granted; the agent has its credential or can fetch it.',
  AgentReachable: 'Cluster: the agent reported no longer ago than it should have.',
  Contested: 'Cluster: another agent asks to be registered as this cluster while its own agent reports.',
  ClusterProfilePublished: 'Cluster: False while it cannot be published as a ClusterProfile; not there when it is.',
  ArgoCDPublished: 'Cluster: Argo CD has a Secret for it, with a credential of its own.',
  Ready: 'Everything that should be there is there and ready.',
  Accepted: 'ClusterRegistration: the policy of the hub let it pass.',
  Granted: 'ClusterRegistration: rights are in place and the credential is published.',
  Issued: 'ClusterRegistrationToken: the Secret with the values is complete.',
  Detached: 'The object is being removed; the message tells what is left.',
  Overlapping: 'RegistrationRule: other rules select the same sources; absent otherwise.',
  Deployed: 'BundleDeployment: outcome of helm.',
  Installed: 'BundleDeployment: False when the files themselves are wrong, so that trying again is no use.',
  Monitored: 'BundleDeployment: outcome of the comparison with what runs.',
};

const nothing = 'Nothing; it goes on by itself.';

export const reasonMeanings: Readonly<Record<Reason, Meaning>> = {
  Pending: { meaning: 'The stage has not begun.', action: nothing },
  Succeeded: { meaning: 'The stage is done.', action: nothing },
  WaitingForServiceAccountToken: {
    meaning: 'Kubernetes has not filled the token Secret of a ServiceAccount yet.',
    action: 'If it lasts, see whether kube-controller-manager of the hub runs.',
  },
  WaitingForNamespace: {
    meaning: 'The namespace of the cluster is being made, or still being deleted.',
    action: nothing,
  },
  WaitingForToken: { meaning: 'The token for the import is being made.', action: nothing },
  WaitingForAgent: {
    meaning: 'The agent has not asked to be registered yet.',
    action:
      'If it lasts, look at the events of the Deployment `fleet-agent` downstream: image, scheduling, reaching the hub.',
  },
  WaitingForHeartbeat: {
    meaning: 'The agent is registered and has not reported yet.',
    action: 'If it lasts, look at the events of the agent downstream.',
  },
  AgentNotRunning: {
    meaning: 'The agent was installed and does not run; the message has what its pods say downstream.',
    action: 'Correct what it names: the image, the pull Secret, tolerations, or a port that is taken on the node.',
  },
  CheckedIn: { meaning: 'The agent reports as it should.', action: nothing },
  HeartbeatOverdue: {
    meaning: 'The agent has not reported for longer than it should.',
    action:
      'See whether the cluster, its way to the hub and the pod of the agent are up. Nothing is removed meanwhile.',
  },
  DownstreamCleared: {
    meaning: 'Nothing is left on the cluster; what belongs to it on the hub is being deleted.',
    action: nothing,
  },
  Deleting: { meaning: 'The object is being deleted.', action: nothing },
  ManagedElsewhere: {
    meaning: 'A label hands the object to another manager.',
    action: 'Remove the label `fleet.cattle.io/cluster-management` when that is not meant.',
  },
  InvalidSpec: { meaning: 'A field of spec cannot be used.', action: 'Correct the field that the message names.' },
  InvalidTTL: { meaning: 'The ttl is not a duration.', action: 'Write it as 90s, 15m or 12h.' },
  TTLRequired: { meaning: 'The hub takes no tokens that live for ever.', action: 'Give the token a ttl.' },
  Expired: { meaning: 'The token has reached its ttl.', action: 'Make a new token.' },
  ClientIDMismatch: {
    meaning: 'The Cluster of that name belongs to another clientID.',
    action: 'If the cluster was rebuilt, set `spec.clientID` of the Cluster to the new one; else find out who asks.',
  },
  NameTaken: {
    meaning: 'An object of a needed name exists and is not ours.',
    action: 'Remove or rename the object that the message names.',
  },
  SelfRegistration: {
    meaning: 'The cluster is the hub itself.',
    action: 'Give the kubeconfig of the downstream cluster; the hub registers itself only when it is told to.',
  },
  Superseded: { meaning: 'A newer request for the same cluster took its place.', action: nothing },
  AmbiguousClientID: {
    meaning: 'Several Clusters of the namespace have the same clientID.',
    action: 'Change or remove all but one of those that the message names.',
  },
  ClientIDInUse: {
    meaning: 'An agent asks to be registered as a cluster whose own agent reports.',
    action:
      'If the cluster was moved or rebuilt, annotate the Cluster with `muster.dev/registration-locked: "false"`, or wait until the other agent is silent; else find out who asks, delete the request and replace the token.',
  },
  TokenUsed: {
    meaning: 'The token may register one cluster, and has.',
    action: 'Make a new token for this cluster.',
  },
  RegistrationLocked: {
    meaning: 'The Cluster is registered and its owner allows no other registration.',
    action: 'Unlock the Cluster when the request is expected.',
  },
  WrongToken: {
    meaning: 'The Cluster may only be registered with a certain token, and another was used.',
    action: 'Use the token that the message names.',
  },
  NamespaceTaken: {
    meaning: 'The namespace for the cluster exists and belongs to another cluster.',
    action: 'Remove the namespace, or give the Cluster another name.',
  },
  RightsMissing: {
    meaning: 'Rights of the agent could not be set up.',
    action: 'See the message; the hub itself may lack a right.',
  },
  EdgeNotCleaned: {
    meaning: 'The agent could not be removed downstream.',
    action: 'Make the cluster reachable, or remove the agent there by hand and let go as the message says.',
  },
  CredentialRevoked: {
    meaning: 'The credential of the agent was deleted.',
    action: 'The agent registers again with a new token; make one if none is left.',
  },
  KubeconfigSecretMissing: {
    meaning: 'The Secret with the kubeconfig, or its key `value`, does not exist.',
    action: 'Make the Secret that the message names.',
  },
  KubeconfigNamespaceRefused: {
    meaning: 'The Secret is in a namespace that the hub does not read kubeconfigs from.',
    action: 'Move it into the namespace of the Cluster.',
  },
  KubeconfigInvalid: {
    meaning: 'The kubeconfig cannot be read.',
    action: 'See [INVALID_KUBECONFIG](../errors.md#invalid_kubeconfig).',
  },
  KubeconfigRefused: {
    meaning: 'The kubeconfig asks for something that the hub does not do for others.',
    action: 'See [KUBECONFIG_REFUSED](../errors.md#kubeconfig_refused).',
  },
  HubAddressMissing: {
    meaning: 'The hub does not know under which address agents reach it.',
    action: 'Set `apiServerURL` in its configuration, or in the Secret with the kubeconfig.',
  },
  NoKubeconfig: {
    meaning: 'The hub has no kubeconfig of the cluster, so it cannot make a credential there.',
    action: 'Give the Cluster a `kubeConfigSecret`, or leave it out by the selector in the configuration.',
  },
  OwnCluster: {
    meaning: 'It is the cluster that hub and Argo CD run in.',
    action: 'Nothing; Argo CD reaches it as `in-cluster`.',
  },
  ClusterUnreachable: {
    meaning: 'No connection to the cluster.',
    action: 'See [UNREACHABLE](../errors.md#unreachable).',
  },
  ClusterUntrusted: {
    meaning: 'The certificate of the cluster is not trusted.',
    action: 'See [TLS_UNTRUSTED](../errors.md#tls_untrusted).',
  },
  ClusterUnauthorized: {
    meaning: 'The cluster does not know the credential.',
    action: 'Renew the kubeconfig in the Secret; it is used at once.',
  },
  ClusterForbidden: {
    meaning: 'The credential lacks a right downstream.',
    action: 'Use a kubeconfig that may install the agent: by default that of a cluster administrator.',
  },
  NotKubernetes: {
    meaning: 'What answers is not an API server.',
    action: 'See [NOT_KUBERNETES](../errors.md#not_kubernetes).',
  },
  TimedOut: { meaning: 'The cluster did not answer in time.', action: 'See [TIMEOUT](../errors.md#timeout).' },
  SourceKindMissing: {
    meaning: 'The kind of object that the rule registers is not installed.',
    action: 'Install it (Cluster API, or the ClusterProfile API); the rule begins by itself.',
  },
  NamespaceNotOpen: {
    meaning: 'The hub may not read Secrets in the namespace of the source.',
    action: 'Label the namespace `muster.dev/source=true`, or exclude it by `spec.namespaceSelector` of the rule.',
  },
  WorkspaceNotOpen: {
    meaning: 'The namespace that registrations should go to is no workspace.',
    action: 'Label the namespace `muster.dev/workspace=true`, or name another in `spec.registration.workspace`.',
  },
  InvalidName: {
    meaning: 'What a rule makes of the source is no name for a registration.',
    action: 'Change `spec.registration.name` of the rule, as the message says.',
  },
  RulesOverlap: {
    meaning: 'Several rules select the same sources.',
    action: 'Nothing, if it is meant; else narrow the selectors, or set `spec.priority`.',
  },
  Suspended: { meaning: 'The rule is suspended.', action: 'Remove `spec.suspend` to go on.' },
  SourcePaused: { meaning: 'The source is paused.', action: 'Resume it; its registration follows.' },
  WaitingForControlPlane: { meaning: 'The cluster of the source cannot be used yet.', action: nothing },
  AccessProviderMissing: {
    meaning: 'The ClusterProfile does not say how its cluster is reached, or not in the wanted way.',
    action: 'See which providers its status names; the rule chooses by `spec.source.clusterProfile.accessProvider`.',
  },
  AccessProviderRefused: {
    meaning: 'The access provider needs a program to be run on the hub.',
    action: 'Offer the credential in a Secret (kubeconfig-secretreader or secretreader).',
  },
  DetachOverdue: {
    meaning: 'A source was let go although its cluster was not detached in time.',
    action: 'See why the Cluster that the message names is still being removed.',
  },
  Error: { meaning: 'Something else went wrong.', action: 'See the message; the hub goes on trying.' },
};
