import { describe, expect, it } from 'vitest';
import { violations } from '../../api/validate.ts';
import { hubConfigInputs } from './hub-config-inputs.ts';

describe('inventory of HubRelease.config', () => {
  it('given what a hub understands, then nothing is wrong', () => {
    const argoCD = {
      namespace: 'argocd',
      selector: { matchLabels: { env: 'prod' } },
      namespaces: ['apps'],
      tokenTTL: '1h',
    };
    expect(violations(hubConfigInputs, { inventory: { clusterProfiles: false, argoCD } })).toEqual([]);
  });

  it('given what a hub would suspend itself for, then each fault is told at its field, before anything is applied', () => {
    const argoCD = { selectors: {}, tokenTTL: '1m' };
    const paths = violations(hubConfigInputs, { inventory: { argoCD } }).map(({ path }) => path);
    expect(paths.sort()).toEqual([
      'inventory.argoCD.namespace',
      'inventory.argoCD.selectors',
      'inventory.argoCD.tokenTTL',
    ]);
  });
});
