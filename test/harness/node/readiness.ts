/** What a Node object says about itself. */

interface NodeObject {
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly status: string; lastHeartbeatTime?: string }[];
  };
}

/** True when it says Ready, and has said so since `startedAt`: what a kubelet said before it was killed does not count. */
export function saysReady(text: string, startedAt: number): boolean {
  const ready = (JSON.parse(text) as NodeObject).status?.conditions?.find(({ type }) => type === 'Ready');
  // The API keeps whole seconds.
  const fresh = Date.parse(ready?.lastHeartbeatTime ?? '') >= Math.floor(startedAt / 1000) * 1000;
  return ready?.status === 'True' && fresh;
}
