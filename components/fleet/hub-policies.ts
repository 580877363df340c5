/**
 * Admission policies around the hub's own rights. They hold for the hub's ServiceAccount only, so that an administrator
 * may do as before. Each policy denies what it does not know, and an error while evaluating it denies as well.
 */
import { group as fleet, labels } from '../../api/fleet/constants.ts';
import { labels as musterLabels } from '../../api/muster/constants.ts';
import { profilesPolicy } from './hub-inventory.ts';
import { sourceFences, sourceMarks } from './hub-sources.ts';
import { grantRoles, hubNames, policyNames, workspaceLabel } from './names.ts';
import { cel, inNamespaceLabelled } from './policy.ts';
import type { NamedExpression, Policy } from './policy.ts';

/** The namespaces that the policies name. */
export interface HubNamespaces {
  readonly system: string;
  readonly registration: string;
}

const rbac = { apiGroups: ['rbac.authorization.k8s.io'], apiVersions: ['v1'] };
const core = { apiGroups: [''], apiVersions: ['v1'] };

/** Namespaces of clusters are told by name and label: the hub can make such namespaces, but not turn others into them. */
const isClusterNamespace = (object: string): string =>
  `(${object}.metadata.name.startsWith("cluster-") && ` +
  `${object}.metadata.?labels[?${cel(labels.managed)}].orValue("") == "true")`;

const isWorkspace = inNamespaceLabelled(workspaceLabel);

const isSource = inNamespaceLabelled(musterLabels.source);

/** Match condition: the request is the hub's. */
export function isTheHub(system: string): NamedExpression {
  const user = `system:serviceaccount:${system}:${hubNames.serviceAccount}`;
  return { name: 'is-the-hub', expression: `request.userInfo.username == ${cel(user)}` };
}

/** All policies on the hub. */
export function hubPolicies(namespaces: HubNamespaces): Policy[] {
  const hub = isTheHub(namespaces.system);
  const fences = [roles(namespaces), bindings(namespaces), scope(namespaces), namespacesPolicy(), profilesPolicy()];
  return [...[...fences, ...sourceFences()].map((policy) => ({ ...policy, matchConditions: [hub] })), sourceMarks(hub)];
}

/** Three shapes of Role, each with one rule: nothing that the hub grants reaches further than one kind or one name. */
function roles({ registration }: HubNamespaces): Policy {
  const rule = 'variables.rule';
  const is = (apiGroup: string, resource: string, verb: string): string =>
    `${rule}.apiGroups == [${cel(apiGroup)}] && ${rule}.resources == [${cel(resource)}] && ${rule}.verbs == [${cel(verb)}]`;
  const names = `${rule}.?resourceNames.orValue([])`;
  return {
    name: policyNames.hubRoles,
    rules: [{ ...rbac, operations: ['CREATE', 'UPDATE'], resources: ['roles'] }],
    variables: [
      { name: 'rule', expression: 'object.rules[0]' },
      // A token's account may ask for a registration.
      { name: 'request', expression: `${is(fleet, 'clusterregistrations', 'create')} && size(${names}) == 0` },
      // A registered agent may report on its own Cluster.
      { name: 'heartbeat', expression: `${is(fleet, 'clusters/status', 'patch')} && size(${names}) == 1` },
      // A token's account may read the answers to its own requests.
      {
        name: 'answer',
        expression:
          `request.namespace == ${cel(registration)} && ${is('', 'secrets', 'get')} && ` +
          `size(${names}) > 0 && ${names}.all(name, name.startsWith("c-"))`,
      },
    ],
    validations: [
      {
        expression: 'size(object.rules) == 1 && (variables.request || variables.heartbeat || variables.answer)',
        message:
          'the hub may write Roles of three shapes only: create clusterregistrations; patch clusters/status of one ' +
          'Cluster; get named c-… Secrets in the registration namespace',
      },
    ],
  };
}

function bindings({ system, registration }: HubNamespaces): Policy {
  const subjects = 'object.?subjects.orValue([])';
  const clusterRoles = [grantRoles.bundleDeployment, grantRoles.credentialRenewal].map(cel).join(', ');
  return {
    name: policyNames.hubBindings,
    rules: [{ ...rbac, operations: ['CREATE', 'UPDATE'], resources: ['rolebindings', 'clusterrolebindings'] }],
    variables: [
      { name: 'clusterWide', expression: 'request.resource.resource == "clusterrolebindings"' },
      { name: 'clusterRole', expression: 'object.roleRef.kind == "ClusterRole" ? object.roleRef.name : ""' },
      // An agent's account lives in its cluster namespace and has rights there.
      {
        name: 'agent',
        expression:
          `variables.clusterRole in [${clusterRoles}] && request.namespace.startsWith("cluster-") && ` +
          `${subjects}.all(subject, subject.namespace == request.namespace)`,
      },
      // Contents have no namespace.
      {
        name: 'content',
        expression:
          `variables.clusterRole == ${cel(grantRoles.content)} && ` +
          `${subjects}.all(subject, subject.namespace.startsWith("cluster-"))`,
      },
      // An agent reports in its workspace; which Cluster is its own is told by policy muster-agent-status.
      {
        name: 'report',
        expression:
          `variables.clusterRole == ${cel(grantRoles.clusterStatus)} && ${isWorkspace} && ` +
          `${subjects}.all(subject, subject.namespace.startsWith("cluster-"))`,
      },
      // The hub opens a namespace to itself, to no one else: where only sources are, to read Secrets.
      {
        name: 'hub',
        expression:
          `(variables.clusterRole == ${cel(grantRoles.hubSource)} || ` +
          `(variables.clusterRole == ${cel(grantRoles.hubNamespace)} && (${isWorkspace} || ` +
          `request.namespace == ${cel(registration)} || request.namespace.startsWith("cluster-")))) && ` +
          `${subjects}.all(subject, subject.namespace == ${cel(system)} && ` +
          `subject.name == ${cel(hubNames.serviceAccount)})`,
      },
      // Roles that the hub made: in a workspace or in the registration namespace, for accounts of tokens and agents.
      {
        name: 'role',
        expression:
          `object.roleRef.kind == "Role" && (request.namespace == ${cel(registration)} || ${isWorkspace}) && ` +
          `${subjects}.all(subject, subject.namespace != ${cel(system)} && !subject.namespace.startsWith("kube-"))`,
      },
    ],
    validations: [
      {
        expression: `${subjects}.all(subject, subject.kind == "ServiceAccount")`,
        message: 'the hub may bind roles to ServiceAccounts only',
      },
      {
        expression:
          'variables.clusterWide ? variables.content : (variables.agent || variables.report || variables.hub || variables.role)',
        message:
          'the hub may bind: the roles of agents in their cluster namespaces and workspaces, fleet-content to agents, ' +
          'muster-hub-namespace and muster-hub-source to itself, and Roles in workspaces and in the registration namespace',
      },
    ],
  };
}

/**
 * Where the hub may write accounts, tokens and bindings. An account's token is all that the account may do, so do not
 * run accounts with more rights than the hub's in a workspace.
 */
function scope({ registration }: HubNamespaces): Policy {
  return {
    name: policyNames.hubScope,
    rules: [
      {
        ...core,
        operations: ['CREATE', 'UPDATE', 'DELETE'],
        resources: ['serviceaccounts', 'serviceaccounts/token'],
      },
      { ...rbac, operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['rolebindings'] },
    ],
    validations: [
      {
        expression:
          `request.namespace == ${cel(registration)} || ${isWorkspace} || ${isClusterNamespace('namespaceObject')} || ` +
          // where sources are it may bind its right to read Secrets (policy muster-hub-bindings), and nothing else
          `(request.resource.resource == "rolebindings" && request.operation == "CREATE" && ${isSource})`,
        message: `the hub may write here only if the namespace is labelled ${workspaceLabel}=true or is a cluster namespace of its own`,
      },
    ],
  };
}

function namespacesPolicy(): Policy {
  const own = (object: string): string =>
    `${isClusterNamespace(object)} && ${object}.metadata.?labels[?${cel(workspaceLabel)}].orValue("") == ""`;
  return {
    name: policyNames.hubNamespaces,
    rules: [{ ...core, operations: ['CREATE', 'UPDATE', 'DELETE'], resources: ['namespaces'] }],
    validations: [
      {
        expression: `request.operation == "DELETE" || (${own('object')})`,
        message: `the hub may only make and keep namespaces named cluster-… with label ${labels.managed}=true`,
      },
      {
        expression: `request.operation == "CREATE" || (${own('oldObject')})`,
        message: `the hub may only touch namespaces named cluster-… with label ${labels.managed}=true`,
      },
    ],
  };
}
