/** The built-in kinds that muster reads and writes: only the fields it uses, with the API's own names. */
import type { KubeObject, ResourceType } from '../resource.ts';

export interface Namespace extends KubeObject {
  status?: { phase?: 'Active' | 'Terminating'; conditions?: { type: string; status: string; message?: string }[] };
}

/** `data` values are base64. */
export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  stringData?: Record<string, string>;
  immutable?: boolean;
}

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

export interface ServiceAccount extends KubeObject {
  automountServiceAccountToken?: boolean;
  imagePullSecrets?: { name: string }[];
}

export interface Node extends KubeObject {
  status?: {
    nodeInfo?: { kubeletVersion: string };
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
  };
}

export interface Pod extends KubeObject {
  spec?: Record<string, unknown>;
  status?: {
    phase?: string;
    podIP?: string;
    conditions?: { type: string; status: string; reason?: string; message?: string }[];
    containerStatuses?: {
      name: string;
      ready: boolean;
      restartCount: number;
      state?: {
        waiting?: { reason?: string; message?: string };
        running?: { startedAt?: string };
        terminated?: { reason?: string; message?: string; exitCode: number };
      };
    }[];
  };
}

const core = { group: '', version: 'v1' } as const;

export const Namespaces: ResourceType<Namespace> = {
  ...core,
  kind: 'Namespace',
  plural: 'namespaces',
  namespaced: false,
};
export const Secrets: ResourceType<Secret> = { ...core, kind: 'Secret', plural: 'secrets', namespaced: true };
export const ConfigMaps: ResourceType<ConfigMap> = {
  ...core,
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
};
export const ServiceAccounts: ResourceType<ServiceAccount> = {
  ...core,
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
export const Nodes: ResourceType<Node> = { ...core, kind: 'Node', plural: 'nodes', namespaced: false };
export const Pods: ResourceType<Pod> = { ...core, kind: 'Pod', plural: 'pods', namespaced: true };
