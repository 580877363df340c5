/** Everything that is applied to the hub and to the stores; `npm run synth` writes it to dist/, which is committed. */
import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import {
  Agent,
  ClusterGroup,
  FleetCrds,
  GitRepo,
  Hub,
  RegisteredCluster,
  RegistrationToken,
} from 'pulumi-muster/constructs';
import { agent, clusters, hub, stores, token } from './settings.ts';

class HubChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    new Hub(this, 'hub', hub);
  }
}

class FleetChart extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id);
    // Clusters that the hub can reach: it installs their agent. The kubeconfig is in a Secret that lies on the hub.
    for (const cluster of clusters) {
      new RegisteredCluster(this, cluster.name, {
        ...cluster,
        kubeconfigSecret: { name: `${cluster.name}-kubeconfig` },
        labels: { env: 'prod' },
      });
    }
    // Clusters that it cannot reach: they come with a token, and are known by their clientID.
    new RegistrationToken(this, 'stores', { name: 'stores', ttl: '24h' });
    for (const name of stores) {
      new RegisteredCluster(this, name, { name, clientID: name, labels: { env: 'edge' } });
    }
    const edge = new ClusterGroup(this, 'edge', { name: 'edge', selector: { matchLabels: { env: 'edge' } } });
    // Delivered by the controllers of Rancher Fleet where the hub has them; muster's own hub only registers.
    new GitRepo(this, 'apps', {
      name: 'apps',
      repo: 'https://github.com/rancher/fleet-examples',
      paths: ['simple'],
      targets: [edge],
    });
  }
}

/** What is applied to a store: an agent whose token External Secrets fetches. */
class StoreChart extends Chart {
  constructor(scope: Construct, name: string) {
    super(scope, name);
    new Agent(this, 'agent', { ...agent, clientID: name, bootstrapSecret: { externalSecret: token } });
  }
}

// Files are numbered in the order in which to apply them.
const onHub = new App({ outdir: 'dist/hub' });
const crds = new FleetCrds(onHub, 'crds');
const hubChart = new HubChart(onHub, 'hub');
const fleet = new FleetChart(onHub, 'fleet');
hubChart.addDependency(crds);
fleet.addDependency(hubChart);
onHub.synth();

const atStores = new App({ outdir: 'dist/stores' });
for (const name of stores) new StoreChart(atStores, name);
atStores.synth();
