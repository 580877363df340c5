/** What differs from team to team. No secret is among it. */
import type { AgentProps, HubProps, RegisteredClusterProps } from 'pulumi-muster/constructs';

const image = 'registry.example.com/muster:0.1.0';

export const hub: HubProps = {
  image,
  config: { apiServerURL: 'https://hub.example.com:6443', agentCheckinInterval: '5m' },
};

/** Clusters that the hub reaches. */
export const clusters: readonly Pick<RegisteredClusterProps, 'name' | 'agent'>[] = [{ name: 'east' }];

/** Clusters that reach the hub. */
export const stores: readonly string[] = ['store-17', 'store-18'];

export const agent: AgentProps = { image };

/** Where External Secrets finds the values of the token `stores`. */
export const token = {
  secretStoreRef: { name: 'vault', kind: 'ClusterSecretStore' },
  remoteRef: { key: 'fleet/stores', property: 'values' },
} as const;
