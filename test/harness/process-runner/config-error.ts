/** Something a pod asks for is not there, now. The pod waits and it is tried again. */
export class PodConfigError extends Error {
  /** As kubelet calls it in a waiting container's status. */
  readonly reason: string;

  constructor(reason: 'CreateContainerConfigError' | 'ErrImageNeverPull' | 'RunContainerError', message: string) {
    super(message);
    this.name = 'PodConfigError';
    this.reason = reason;
  }
}
