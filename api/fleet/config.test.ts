import { describe, expect, it } from 'vitest';
import { formatAgentConfig, parseAgentConfig } from './agent-config.ts';
import { formatHubConfig, parseHubConfig } from './hub-config.ts';
import type { HubConfig } from './hub-config.ts';

const full: HubConfig = {
  systemDefaultRegistry: 'registry.example',
  agentImage: 'muster:dev',
  agentImagePullPolicy: 'IfNotPresent',
  apiServerURL: 'https://hub.example',
  apiServerCA: 'Q0E=',
  agentCheckinInterval: '15m0s',
  agentTLSMode: 'strict',
  agentWorkers: { bundledeployment: '50', drift: '10' },
  garbageCollectionInterval: '15m',
  imagePullSecrets: [{ name: 'pull' }],
  ignoreClusterRegistrationLabels: true,
  manageAgent: false,
  bootstrap: {
    enabled: true,
    namespace: 'fleet-local',
    agentNamespace: 'x',
    localAgentDisabled: false,
    clusterLabels: { a: 'b' },
    repo: 'r',
    secret: 's',
    branch: 'b',
    paths: 'p',
  },
  inventory: {
    clusterProfiles: false,
    argoCD: {
      namespace: 'argocd',
      selector: { matchLabels: { env: 'prod' }, matchExpressions: [{ key: 'tier', operator: 'Exists' }] },
      namespaces: ['apps'],
      clusterRole: 'system:aggregate-to-edit',
      project: 'stores',
      tokenTTL: '1h',
      suspend: false,
    },
  },
  gitClientTimeout: '30s',
  webhookReceiverURL: 'https://hook.example',
  githubURLPrefix: 'https://git.example',
};

describe('hub configuration', () => {
  it('given every field, when it is written and read, then nothing is lost', () => {
    expect(parseHubConfig(formatHubConfig(full))).toEqual({ config: full, warnings: [] });
  });

  it('given another order, when it is written, then the text is the same', () => {
    const reversed = Object.fromEntries(Object.entries(full).reverse()) as HubConfig;
    expect(formatHubConfig(reversed)).toBe(formatHubConfig(full));
  });

  it('given settings of Argo CD that cannot be used, when they are read, then the option is suspended, not widened or dropped', () => {
    const read = (argoCD: unknown) => parseHubConfig(JSON.stringify({ inventory: { argoCD } }));
    expect(read({ namespace: 'argocd', selectors: {} })).toEqual({
      config: { inventory: { argoCD: { namespace: '', suspend: true } } },
      warnings: [expect.stringMatching(/^inventory\.argoCD\.selectors is not known; what Argo CD was given stays/)],
    });
    const problemsOf = (argoCD: object): string[] =>
      read({ namespace: 'argocd', ...argoCD }).warnings.map((line) => line.replace(/;.*/, '').split(' ')[0] ?? '');
    expect(problemsOf({ namespace: undefined })).toEqual(['inventory.argoCD.namespace']);
    expect(problemsOf({ namespace: 'Not A Name', tokenTTL: '5m', clusterRole: 'a/b' })).toEqual([
      'inventory.argoCD.namespace',
      'inventory.argoCD.tokenTTL',
      'inventory.argoCD.clusterRole',
    ]);
    for (const namespaces of [[], ['Not A Name'], 'apps']) {
      expect(problemsOf({ namespaces })).toEqual(['inventory.argoCD.namespaces']);
    }
    for (const selector of [
      'env=prod',
      { env: 'prod' },
      { matchLabels: { env: 1 } },
      { matchExpressions: [{ key: 'env', operator: 'Equals', values: ['prod'] }] },
      { matchExpressions: [{ key: 'env', operator: 'In' }] },
    ]) {
      expect(problemsOf({ selector })).toEqual(['inventory.argoCD.selector']);
    }
    expect(read({ namespace: 'argocd', selector: {}, tokenTTL: '10m' }).warnings).toEqual([]);
  });

  it('given fields that cannot be used, when it is read, then each is left out with a warning', () => {
    const { config, warnings } = parseHubConfig(
      JSON.stringify({
        apiServerURL: 'https://hub',
        agentCheckinInterval: '1 day',
        garbageCollectionInterval: '-1m',
        gitClientTimeout: 30,
        agentWorkers: { bundledeployment: 20, drift: 'many' },
        bootstrap: 'yes',
        imagePullSecrets: ['pull'],
        agentTLSMode: null,
        somethingNew: true,
      }),
    );
    expect(config).toEqual({
      apiServerURL: 'https://hub',
      agentWorkers: { bundledeployment: '20' },
      imagePullSecrets: [{ name: 'pull' }],
    });
    expect(warnings.map((line) => line.split(' ')[0])).toEqual([
      'agentCheckinInterval',
      'agentWorkers.drift',
      'garbageCollectionInterval',
      'bootstrap',
      'gitClientTimeout',
    ]);
  });

  it.each([undefined, '', '  ', '{}'])('given %j, when it is read, then everything has its default', (json) => {
    expect(parseHubConfig(json)).toEqual({ config: {}, warnings: [] });
  });

  it.each(['{', '[]', '"x"', 'null'])('given %j, when it is read, then it is refused', (json) => {
    expect(() => parseHubConfig(json)).toThrow(
      expect.objectContaining({ code: 'INVALID_ARGUMENT', where: 'ConfigMap fleet-controller' }),
    );
  });
});

describe('agent configuration', () => {
  it('given every field, when it is written and read, then nothing is lost', () => {
    const config = {
      labels: { env: 'prod' },
      clientID: 'id',
      agentTLSMode: 'strict',
      garbageCollectionInterval: '20m',
    };
    expect(parseAgentConfig(formatAgentConfig(config))).toEqual({ config, warnings: [] });
  });

  it('given labels that are not texts, when it is read, then they are left out with a warning', () => {
    const { config, warnings } = parseAgentConfig('{"labels":{"a":1},"clientID":"x"}');
    expect(config).toEqual({ clientID: 'x' });
    expect(warnings).toEqual([expect.stringMatching(/^labels /)]);
  });
});
