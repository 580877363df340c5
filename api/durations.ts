/**
 * Every duration of the product, in milliseconds unless the name says otherwise. One line each, with its reason.
 * Parts add theirs to their own block.
 */
export const durations = {
  // api: what the Fleet wire documents promise
  /** How often an agent tells that it is alive (Fleet: default of agentCheckinInterval; `0s` means this). */
  agentCheckinInterval: 15 * 60_000,
  /** How often an agent looks for releases whose BundleDeployment is gone (Fleet: garbageCollectionInterval). */
  garbageCollectionInterval: 15 * 60_000,
  /** Life of the token that a manager-initiated registration makes for itself (Fleet: import token). */
  importTokenTtl: 12 * 3_600_000,
  /** An answered request's Secret is deleted after this; the agent has long copied it (Fleet: agent secret timeout). */
  registrationSecretLifetime: 40 * 60_000,
  /** Agent leader election, as in Fleet, so that one of ours and one of theirs agree on who leads. */
  agentLeaseDuration: 30_000,
  agentLeaseRenewDeadline: 25_000,
  agentLeaseRetryPeriod: 10_000,

  // agent: registration and liveness at the edge
  /** First look for the answer to a request; the RBAC of a bootstrap token allows GET by name only, no watch. */
  agentGrantPollFirst: 50,
  /** Longest pause between looks; reached when a request is a minute old, so that waiting fleets stay quiet. */
  agentGrantPollLast: 15_000,
  /**
   * Age of a request from and to which a hub of Fleet answers, and the pause between looks then. It sleeps 2 s for the
   * token that it gives (Fleet: clusterregistration controller), and writes some objects before and after.
   */
  fleetAnswersFrom: 2_000,
  fleetAnswersTo: 2_600,
  fleetAnswersPoll: 100,
  /** One attempt waits this long for an answer, then says NotGranted and tries the same request again. */
  agentGrantDeadline: 120_000,
  /** A request that nobody answered for this long is made anew: its answer may have come and gone while the edge was away. */
  agentRequestAbandon: 12 * 3_600_000,
  /** A hub may publish a credential before its RBAC (seen: seconds, with caches behind); refusals count after this. */
  agentCredentialSettle: 60_000,
  /** A stored credential is held to be rejected after being refused for this long; an API server that starts refuses too. */
  agentRejectionConfirm: 3_000,
  /** Back-off between failed attempts, with jitter, reset by success. */
  agentRetryFirst: 1_000,
  agentRetryLast: 60_000,
  /** Longest pause before a broken watch for news of the hub is opened again: agents that lose their hub all do it then. */
  agentListenRetry: 30_000,
  /** Longest pause after the first refusal: the rights of a new credential are effective within a moment. */
  agentListenSoon: 3_000,
  /** A hub that allows no watch is asked again this late: it may be upgraded, and one of Fleet never allows it. */
  agentListenRefused: 3_600_000,
  /** An API server accepts tokens for ten seconds after their account is gone; asked sooner, it would say that all is well. */
  agentAccountGone: 12_000,
  /** A token that could not be renewed is tried again at least this often; a day's token has eight hours for it. */
  agentRenewalRetryLongest: 3_600_000,
  /** Version and node count are read anew after this: they change rarely, and each look costs the edge two requests. */
  agentFacts: 5 * 60_000,
  /** An edge that does not answer by then keeps its facts to itself; the heartbeat goes without. */
  agentFactsDeadline: 3_000,
  /** A failure that lasts is repeated as an Event this often, so that it is still there when someone looks. */
  agentEventRepeat: 10 * 60_000,
  /** When an agent's process hands back what its start left in memory: registered, usually, and idle. */
  agentMemoryRelease: 10_000,
  /** A hub that has had nothing to do for this long collects what its last burst left in memory. */
  memoryRest: 10_000,
  /** Longest single timer: timers of Node overflow at 24.8 days. */
  agentLongestWait: 24 * 3_600_000,

  // kube: transport, watches, queues, leases
  /** One attempt of a call, connect included: half of the 60 s after which an API server itself gives up. */
  requestTimeout: 30_000,
  /** TCP, proxy and TLS handshake: a host that drops packets must not use up the whole request deadline. */
  connectTimeout: 10_000,
  /** An idle connection is closed after this; below the 90 s and more that API servers and load balancers keep it. */
  idleConnection: 60_000,
  /** First and longest pause between attempts of an idempotent call; doubled each time, with jitter. */
  retryFirst: 100,
  retryLast: 5_000,
  /** A server's Retry-After beyond this is an error for the caller instead of a wait. */
  retryAfterLongest: 10_000,
  /** Watches ask the server for a length drawn from this range, so that reconnects spread (client-go: 5 to 10 min). */
  watchShortest: 5 * 60_000,
  watchLongest: 10 * 60_000,
  /** A watch without a byte for this long is half-open: bookmarks come about every minute. */
  watchInactivity: 90_000,
  /** Pause before a watch that failed starts again (client-go: 0.8 to 30 s; less, so that a restarted server is seen soon). */
  watchRetryFirst: 100,
  watchRetryLast: 15_000,
  /** A watch that lived this long was healthy: its next failure starts with the shortest pause again. */
  watchHealthy: 10_000,
  /** Every object is looked at again after this even if nothing changed (controller-runtime: 10 h). */
  resync: 10 * 60 * 60_000,
  /** A token file is read again after this (client-go: 1 min; the kubelet renews a token at 80 % of its life). */
  tokenFileReload: 60_000,
  /** An exec plugin's credential is renewed this long before it expires, so that no request carries a dead one. */
  execExpiryMargin: 10_000,
  /** An exec plugin that has not answered by then is ended: it may be waiting for a person. */
  execTimeout: 60_000,
  /** First and longest pause before a failed key is reconciled again (controller-runtime: 5 ms to 1000 s). */
  reconcileRetryFirst: 5,
  reconcileRetryLast: 5 * 60_000,
  /** A reconcile that takes longer is told to stop through its signal. */
  reconcileTimeout: 2 * 60_000,
  /** A reconcile that ignores its signal for this long loses its worker (its key stays locked). */
  reconcileAbandon: 5_000,
  /** How long a stopping process lets running reconciles finish; below the 30 s that a pod is given. */
  shutdownGrace: 15_000,
  /** How long a stopping process tries to write its last events. */
  shutdownFlush: 3_000,
  /**
   * Leader election. Whoever waits sees a renewal up to one retry late, lets the lease run out, and tries once per retry:
   * 13 s after a crash at the latest (client-go: 15 s lease, 10 s deadline, 2 s retry, so 19 s). Deadline < lease, so that
   * two never lead.
   */
  leaseDuration: 10_000,
  leaseRenewDeadline: 7_000,
  leaseRetry: 1_500,
  /** Repeats of an event within this are counted in one series instead of written anew (client-go: 6 min). */
  eventSeries: 6 * 60_000,
  /** An object's burst of events is earned back one by one in this time (client-go: burst 25, one per 5 min). */
  eventRefill: 5 * 60_000,

  // components: probes of the hub's and the agent's pods
  /** Whoever deploys waits for the pod to be ready, and a registration takes less than a second. */
  probeReadiness: 2_000,
  /** A process that hangs is restarted after six of these. */
  probeLiveness: 10_000,
  /** A node that is short of CPU answers late; that is no reason to restart a pod. */
  probeTimeout: 5_000,

  // provider: how long a Pulumi operation may take unless its `timeouts` say otherwise
  /** A new cluster's first image pull and agent start are within it. */
  providerCreate: 5 * 60_000,
  providerUpdate: 5 * 60_000,
  /** Finalizers wait for agents; a cluster that is gone for good must not hold a destroy for longer. */
  providerDelete: 3 * 60_000,
  /** Refresh and preview: a few requests. */
  providerRead: 60_000,
  /** Asking which cluster a changed kubeconfig leads to, in a preview; one that does not answer is told by the update. */
  providerIdentity: 5_000,
  /** Pause before a broken watch is opened again. */
  providerRewatch: 500,
  /** How long an API server may leave a definition that it failed to remove before it is reminded. */
  providerReminder: 1_000,

  // registration: grants and credentials
  /** RBAC is effective some milliseconds after it is written; first and longest pause between two looks. */
  grantVerifyFirst: 10,
  grantVerifyLast: 500,
  /** Rights that are not effective after this will not become so by waiting: a ClusterRole is missing. */
  grantVerifyDeadline: 10_000,
  /** Token of an agent that renews it: a cluster may be switched off for a season and still come back. */
  rotatingCredential: 90 * 86_400_000,
  /** A server that caps tokens below this gives too little time to be offline: then a token without end is used. */
  rotatingCredentialLeast: 7 * 86_400_000,
  /** Token of an agent that never renews it: longer than any agent lives; it dies with its ServiceAccount. */
  durableCredential: 10 * 365 * 86_400_000,
  /** kube-controller-manager fills a token Secret within milliseconds when it runs at all. */
  tokenSecretDeadline: 10_000,
  /** How far two clocks may differ before an expiry that was granted counts as cut. */
  clockTolerance: 60_000,

  // hub
  /** An answered request's Secret stays for this long after a heartbeat: the agent has stored its credential by then. */
  registrationSecretUsed: 60_000,
  /** How long a new namespace is waited for: a watch shows it within milliseconds, and nothing depends on seeing it. */
  namespaceSeen: 200,
  /** How long a Cluster just made is waited for; a watch that lags longer is broken, and registrations go on without it. */
  clusterSeen: 10_000,
  /** A cluster is offline after this many half intervals of silence (a number, not a time): one heartbeat may be lost. */
  silentHalfIntervals: 5,
  /** Import token is renewed this long before it ends while no agent has used it, so that none starts with a dead one. */
  importTokenMargin: 3_600_000,
  /** One call to a downstream API server during an import: a broken one must not hold a worker for long. */
  edgeRequest: 5_000,
  /** First and longest pause before a failed import is tried again; a changed kubeconfig wakes it at once. */
  importRetryFirst: 1_000,
  importRetryLast: 5 * 60_000,
  /** How long the first report of an agent is waited for, so that its registration is told with it, in one write. */
  firstReportSoon: 1_000,
  /** Age up to which a new Cluster without a status waits for what its import comes to, for the same reason. */
  importSoon: 5_000,
  /** How long an import waits for the token that it has made before it says so; in a crowd of hundreds it takes seconds. */
  importTokenSoon: 10_000,
  /** After an import, how soon and how often the hub looks why an agent does not come; pulling an image takes seconds. */
  agentLookFirst: 10_000,
  agentLookAgain: 2 * 60_000,
  /** How long deleting a Cluster tries to remove the agent from an edge that does not answer; then it lets go. */
  edgeDetachDeadline: 2 * 60_000,
  /** Numbers of a rule are written this long after a change: hundreds of sources may change with it. */
  ruleStatus: 500,
  /** Pause between those tries; doubled each time. */
  edgeDetachRetryFirst: 500,
  edgeDetachRetryLast: 15_000,
  /** Token of Argo CD for one cluster, renewed after four fifths: a hub that is away for two hours ends no access. */
  argoCDToken: 12 * 3_600_000,
  /** All calls for such a token to one downstream API server: a broken one must not hold a worker for long. */
  argoCDEdge: 20_000,
  /** Least pause before it is renewed, whatever life the server gave it. */
  argoCDRenewalLeast: 1_000,
  /** How long a token waits for the first list of its workspace's Secrets before it looks for itself. */
  workspaceOpen: 2_000,
  /** A client of a downstream cluster that was not used for this long is closed. */
  edgeClientIdle: 10 * 60_000,
  /** Fault of a single object (not of the API server): tried again this late at most, as an event will come. */
  hubRetryFirst: 50,
  hubRetryLast: 60_000,
} as const;
