/** Parts of the maximal objects that several kinds carry: every field that the wire knows has a value. */

export const selector = {
  matchLabels: { env: 'prod', 'example.com/tier': 'edge' },
  matchExpressions: [
    { key: 'region', operator: 'In', values: ['eu', 'us'] },
    { key: 'retired', operator: 'DoesNotExist' },
  ],
};

export const conditions = [
  {
    type: 'Ready',
    status: 'False',
    reason: 'WaitingForAgent',
    message: 'the agent has not reported yet',
    observedGeneration: 3,
    lastTransitionTime: '2026-01-31T12:00:00Z',
    lastUpdateTime: '2026-01-31T12:01:00Z',
  },
];

export const resourceCounts = {
  ready: 1,
  desiredReady: 2,
  waitApplied: 3,
  modified: 4,
  orphaned: 5,
  missing: 6,
  unknown: 7,
  notReady: 8,
};

export const modifiedStatus = [
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    namespace: 'shop',
    name: 'settings',
    missing: true,
    exist: true,
    delete: true,
    patch: '{"data":{"color":"green"}}',
  },
];

export const nonReadyStatus = [
  {
    uid: '0d9c1c5e-7d8e-4f0e-9d3b-3b1a52a2a111',
    kind: 'Deployment',
    apiVersion: 'apps/v1',
    namespace: 'shop',
    name: 'web',
    summary: { state: 'in-progress', error: true, transitioning: true, message: ['0 of 3 replicas are up'] },
  },
];

export const summary = {
  notReady: 1,
  waitApplied: 2,
  errApplied: 3,
  outOfSync: 4,
  modified: 5,
  ready: 6,
  pending: 7,
  desiredReady: 28,
  nonReadyResources: [
    { name: 'web', bundleState: 'NotReady', message: 'replicas are missing', modifiedStatus, nonReadyStatus },
  ],
};

export const correctDrift = { enabled: true, force: true, keepFailHistory: true };

/** Text that Go's encoder would escape, and characters outside ASCII: both have to survive. */
const awkward = 'a<b>&c “ü” \u2028 end';

export const options = {
  defaultNamespace: 'shop',
  namespace: 'shop',
  helm: {
    chart: './chart',
    repo: 'https://charts.example',
    version: '>=1.2.0',
    releaseName: 'shop.web-1',
    values: { replicas: 3, nested: { list: [1, 'two', null, { three: 3.5 }], empty: {} }, awkward, off: false },
    valuesFrom: [
      {
        configMapKeyRef: { name: 'common', namespace: 'shop', key: 'values.yaml' },
        secretKeyRef: { name: 'private', namespace: 'shop', key: 'values.yaml' },
      },
    ],
    valuesFiles: ['values/prod.yaml'],
    templateValues: { domain: '${ .ClusterName }.example' },
    timeoutSeconds: 120,
    maxHistory: 5,
    force: true,
    takeOwnership: true,
    atomic: true,
    waitForJobs: true,
    disablePreProcess: true,
    disableDNS: true,
    skipSchemaValidation: true,
    disableDependencyUpdate: true,
  },
  kustomize: { dir: 'overlays/prod' },
  yaml: { overlays: ['prod', 'eu'] },
  serviceAccount: 'deployer',
  createNamespace: false,
  forceSyncGeneration: 2,
  diff: {
    comparePatches: [
      {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        namespace: 'shop',
        name: 'web',
        jsonPointers: ['/spec/replicas'],
        operations: [{ op: 'remove', path: '/metadata/annotations/x', value: 'y' }],
      },
    ],
  },
  keepResources: true,
  deleteNamespace: true,
  ignore: { conditions: [{ type: 'Stalled', status: 'True' }] },
  correctDrift,
  namespaceLabels: { 'pod-security.kubernetes.io/enforce': 'baseline' },
  namespaceAnnotations: { 'example.com/owner': 'shop team' },
  deleteCRDResources: true,
  downstreamResources: [{ kind: 'Secret', name: 'pull' }],
  overwrites: [{ kind: 'ConfigMap', name: 'settings', namespace: 'shop' }],
  allowedTargetNamespaceSelector: selector,
};

export const dependsOn = [{ name: 'base', selector, acceptedStates: ['Ready', 'Modified'] }];

export const helmOpOptions = {
  helmOpSecretName: 'charts',
  helmOpCABundle: 'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==',
  helmOpInsecureSkipTLSVerify: true,
};

export const target = {
  name: 'production',
  clusterName: 'east',
  clusterSelector: selector,
  clusterGroup: 'edge',
  clusterGroupSelector: selector,
};
