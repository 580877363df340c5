/**
 * Only a token: for clusters that somebody else installs, with `helm install fleet-agent --values`, cdk8s or an image
 * that brings its agent along. `pulumi stack output values --show-secrets` prints the values file.
 */
import * as pulumi from '@pulumi/pulumi';
import { ClusterRegistrationToken } from 'pulumi-muster';

const config = new pulumi.Config();

const token = new ClusterRegistrationToken('stores', {
  metadata: { namespace: config.get('workspace') ?? 'fleet-default' },
  ttl: config.get('ttl') ?? '24h',
});

/** A secret. */
export const values = token.values;
export const expires = token.expires;
