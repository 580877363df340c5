/** What the agent may do on its own cluster. Every line has its reason. */
import { agentNames, configMapNames, defaults, secretNames } from '../../api/fleet/constants.ts';
import type { PolicyRule } from '../../api/kubernetes/rbac.ts';

/** Cluster-wide rules. Fleet's names and place, so that theirs can take over from ours and the other way round. */
export function agentClusterRules(deploysWorkloads: boolean): PolicyRule[] {
  if (deploysWorkloads)
    return [
      // A bundle may hold any kind in any namespace, so whoever installs bundles needs all of them.
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      // Charts may grant access to paths such as /metrics, and one cannot grant what one does not hold.
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ];
  return [
    // Its UID is the cluster's identity at the hub when no clientID is given.
    { apiGroups: [''], resources: ['namespaces'], resourceNames: [defaults.clientIdNamespace], verbs: ['get'] },
    // Their number is shown with the cluster at the hub.
    { apiGroups: [''], resources: ['nodes'], verbs: ['list'] },
  ];
}

/** Rules in the agent's own namespace. */
export function agentNamespaceRules(): PolicyRule[] {
  return [
    // The credential that it was given and the one that it registers with; watched, so that a new one is used at once.
    {
      apiGroups: [''],
      resources: ['secrets'],
      resourceNames: [secretNames.agent, secretNames.bootstrap],
      verbs: ['get', 'list', 'watch', 'update', 'patch', 'delete'],
    },
    // Creation cannot be limited by name: a new object's name is not part of the request's path.
    { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
    // Labels, clientID and TLS mode to register with.
    {
      apiGroups: [''],
      resources: ['configmaps'],
      resourceNames: [configMapNames.agent],
      verbs: ['get', 'list', 'watch'],
    },
    // One of several pods works; an agent of Fleet in the same namespace uses the same Lease.
    {
      apiGroups: ['coordination.k8s.io'],
      resources: ['leases'],
      resourceNames: [agentNames.lease],
      verbs: ['get', 'update', 'patch'],
    },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
    // Events are about this object, which takes its UID.
    { apiGroups: ['apps'], resources: ['deployments'], resourceNames: [agentNames.deployment], verbs: ['get'] },
    // Why a registration is stuck, where `kubectl describe` shows it.
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ];
}
