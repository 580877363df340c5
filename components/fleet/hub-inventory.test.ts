import { describe, expect, it } from 'vitest';
import type { ArgoCDConfig } from '../../api/fleet/inventory-config.ts';
import type { Role } from '../../api/kubernetes/rbac.ts';
import { synthArgoCDAccess } from './argocd-access.ts';
import { synthCrds, synthHub } from './index.ts';

const hubWith = (argoCD?: ArgoCDConfig) =>
  synthHub({ image: 'muster:test', config: argoCD === undefined ? {} : { inventory: { argoCD } } });
const inArgoCD = (objects: ReturnType<typeof hubWith>) =>
  objects.filter(({ metadata }) => metadata.namespace === 'argocd' || metadata.name === 'muster-hub-argocd');

describe('the hub’s rights at Argo CD', () => {
  it('given no option, then there are none; given one, then Role, binding and fence, and no namespace', () => {
    expect(inArgoCD(hubWith())).toEqual([]);
    const objects = inArgoCD(hubWith({ namespace: 'argocd', selector: { matchLabels: { env: 'prod' } } }));
    expect(objects.map(({ kind }) => kind)).toEqual([
      'ValidatingAdmissionPolicy',
      'ValidatingAdmissionPolicyBinding',
      'Role',
      'RoleBinding',
    ]);
    const { rules } = objects[2] as Role;
    expect(rules).toEqual([{ apiGroups: [''], resources: ['secrets'], verbs: ['create', 'patch', 'delete'] }]);
  });

  it('given settings that the hub could not use, then they are refused when the manifests are made', () => {
    expect(() => hubWith({ namespace: 'argocd', tokenTTL: '1m' })).toThrow('tokenTTL must be a Go duration');
    expect(() => hubWith({ namespace: 'argocd', selectors: {} } as ArgoCDConfig)).toThrow('selectors is not known');
  });
});

describe('what Argo CD is given downstream', () => {
  const ids = (namespaces?: string[]) =>
    synthArgoCDAccess({ name: 'a', clusterRole: 'edit', ...(namespaces ? { namespaces } : {}) }).map(
      ({ kind, metadata }) => `${kind} ${metadata.namespace ?? ''}/${metadata.name ?? ''}`,
    );

  it('given namespaces, then it is bound there; given none, then in the whole cluster; once either way', () => {
    const account = ['Namespace /muster-argocd', 'ServiceAccount muster-argocd/a'];
    expect(ids()).toEqual([...account, 'ClusterRoleBinding /a']);
    expect(ids(['y', 'x', 'y'])).toEqual([...account, 'RoleBinding x/a', 'RoleBinding y/a']);
  });
});

describe('definitions', () => {
  it('given no wish for it, then the kind of others is not among them', () => {
    const names = (objects: ReturnType<typeof synthCrds>) => objects.map(({ metadata }) => metadata.name);
    expect(names(synthCrds())).not.toContain('clusterprofiles.multicluster.x-k8s.io');
    expect(names(synthCrds({ clusterProfiles: true }))).toContain('clusterprofiles.multicluster.x-k8s.io');
  });
});
