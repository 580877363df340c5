/**
 * The main example: clusters are provisioned and registered by one `pulumi up`. It installs the hub, lets the hub import
 * one cluster with its kubeconfig, and gives the other one an agent that registers itself with a token.
 */
import * as pulumi from '@pulumi/pulumi';
import { HubRelease, RegisteredCluster } from 'pulumi-muster';
import { kubeconfigs } from './clusters.ts';
import { agentSettings, hubAddress, hubConfig, hubSettings, image } from './settings.ts';

const clusters = kubeconfigs();

const hub = new HubRelease('hub', { image, config: { ...hubAddress, ...hubConfig }, ...hubSettings });

// The hub reaches this cluster: it gets the kubeconfig and does the rest.
const east =
  clusters.east &&
  new RegisteredCluster(
    'east',
    {
      metadata: { name: 'east', labels: { env: 'demo' } },
      kubeconfig: clusters.east,
      ...(agentSettings.east === undefined ? {} : { agent: agentSettings.east }),
    },
    { dependsOn: hub },
  );

// The hub need not reach this one: the agent is installed from here and calls home with a token.
const west =
  clusters.west &&
  new RegisteredCluster(
    'west',
    {
      mode: 'token',
      metadata: { name: 'west', labels: { env: 'demo' } },
      kubeconfig: clusters.west,
      image,
      ...(hubSettings.imagePullPolicy === undefined ? {} : { imagePullPolicy: hubSettings.imagePullPolicy }),
      ...(agentSettings.west === undefined ? {} : { agent: agentSettings.west }),
    },
    { dependsOn: hub },
  );

/** What was registered; nothing here is secret. */
export const registered = pulumi.all(
  [east, west]
    .filter((cluster) => cluster !== undefined)
    .map((cluster) => ({ name: cluster.name, namespace: cluster.namespace, ready: cluster.ready })),
);
