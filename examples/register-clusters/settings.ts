/** What the stack configuration says; every key is described in examples/README.md. */
import * as pulumi from '@pulumi/pulumi';
import type { AgentSettings, HubReleaseArgs } from 'pulumi-muster';

const config = new pulumi.Config();

/** The clusters that this program can register: east by kubeconfig, west by token. */
export type Name = 'east' | 'west';

/** Those that it does register. */
export const names: readonly Name[] = config.getObject<Name[]>('clusters') ?? ['east', 'west'];

export const image = config.get('image') ?? 'localhost/muster:dev';

/** Address and certificates of the hub as its agents see it. */
export const hubAddress = {
  apiServerURL: config.require('hubURL'),
  ...(config.get('hubCA') === undefined ? {} : { apiServerCA: config.require('hubCA') }),
};

/** More arguments of HubRelease, such as `{"hostNetwork": true}`. */
export const hubSettings = config.getObject<Partial<HubReleaseArgs>>('hub') ?? {};

/** More hub configuration, such as `{"agentCheckinInterval": "1m"}`. */
export const hubConfig = config.getObject<Record<string, unknown>>('hubConfig') ?? {};

/** Settings of each agent by cluster, such as `{"east": {"hostNetwork": true}}`. */
export const agentSettings = config.getObject<Partial<Record<Name, AgentSettings>>>('agents') ?? {};

/** Kubeconfigs of clusters that exist, by name. Absent: the program makes its own clusters. */
export const givenKubeconfigs = config.getSecretObject<Partial<Record<Name, string>>>('clusterKubeconfigs');

/** Unix socket of the service that makes local clusters; see examples/local-cluster. */
export const clusterService = config.get('clusterService') ?? process.env['MUSTER_CLUSTER_SERVICE'];
