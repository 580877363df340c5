/** What is registered with the hub, in classes that `cdk8s import` makes of its definitions; no other package is used. */
import { App, Chart } from 'cdk8s';
import type { Construct } from 'constructs';
import { Cluster, ClusterGroup, ClusterRegistrationToken } from './imports/fleet.cattle.io';

const kiosks = ['kiosk-1', 'kiosk-2'];

class Fleet extends Chart {
  constructor(scope: Construct, id: string) {
    super(scope, id, { namespace: 'fleet-default' });
    new Cluster(this, 'west', {
      metadata: { name: 'west', labels: { env: 'prod' } },
      // A Secret that lies on the hub; what is in it never comes here.
      spec: { kubeConfigSecret: 'west-kubeconfig' },
    });
    new ClusterRegistrationToken(this, 'token', { metadata: { name: 'kiosks' }, spec: { ttl: '24h' } });
    for (const kiosk of kiosks) {
      new Cluster(this, kiosk, {
        metadata: { name: kiosk, labels: { env: 'kiosk' } },
        spec: { clientId: kiosk },
      });
    }
    new ClusterGroup(this, 'group', {
      metadata: { name: 'kiosks' },
      spec: { selector: { matchLabels: { env: 'kiosk' } } },
    });
  }
}

const app = new App();
new Fleet(app, 'fleet');
app.synth();
