/**
 * Nobody registers clusters by hand here: the program declares a rule, and every cluster that Cluster API makes in an opened
 * namespace is registered when its control plane is ready, and detached before it is torn down. The hub is taken from
 * `muster:hubKubeconfig`; it is one of muster, as Fleet's knows no rules.
 */
import * as pulumi from '@pulumi/pulumi';
import { ClusterGroup, RegistrationRule } from 'pulumi-muster';

const config = new pulumi.Config();

const rule = new RegistrationRule('edge', {
  source: { clusterAPI: {} },
  selector: { matchLabels: { tier: 'edge' } },
  registration: {
    workspace: 'fleet-default',
    name: '{namespace}-{name}',
    labels: { pass: ['tier', 'topology.*'], set: { registered: 'by-rule' } },
    agent: { envVars: [{ name: 'HTTPS_PROXY', value: config.get('proxy') ?? '' }] },
  },
  // A cluster that is torn down waits this long at most for its agent to be removed.
  onSourceDeleted: { action: 'Detach', timeout: config.get('patience') ?? '60s' },
});

// Addresses all of them, those to come included.
const group = new ClusterGroup('edge', {
  metadata: { namespace: 'fleet-default' },
  selector: { matchLabels: { registered: 'by-rule' } },
});

/** As of the last `pulumi up` or `pulumi refresh`. */
export const matched = rule.matched;
export const registered = rule.registered;
export const ready = group.readyClusterCount;
