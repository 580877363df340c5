/** Settings of an agent as people give them, and the fields of a Cluster that hold them on the wire. */

/** In Kubernetes' shapes; pull Secrets by name, or as references. */
export interface AgentSettingsInput {
  readonly namespace?: unknown;
  readonly envVars?: unknown;
  readonly tolerations?: unknown;
  readonly affinity?: unknown;
  readonly resources?: unknown;
  readonly schedulingCustomization?: unknown;
  readonly imagePullSecrets?: readonly (string | object)[] | null | undefined;
  readonly hostNetwork?: unknown;
  readonly privateRepoURL?: unknown;
}

/** Fields of `spec` of a Cluster; what is not given is undefined. */
export function agentFields(agent: AgentSettingsInput) {
  return {
    agentNamespace: agent.namespace,
    agentEnvVars: agent.envVars,
    agentTolerations: agent.tolerations,
    agentAffinity: agent.affinity,
    agentResources: agent.resources,
    agentSchedulingCustomization: agent.schedulingCustomization,
    agentPullSecrets: agent.imagePullSecrets?.map((secret) => (typeof secret === 'string' ? { name: secret } : secret)),
    hostNetwork: agent.hostNetwork,
    privateRepoURL: agent.privateRepoURL,
  };
}
