/** Where the kubeconfig of a registration that a rule made is: value of the annotation `muster.dev/kubeconfig`. Pure. */

export interface KubeconfigReference {
  /** Of the Secret. */
  readonly namespace: string;
  readonly name: string;
  readonly key: string;
  /** Context to use; the current one when absent. */
  readonly context?: string;
}

/** `namespace/name/key`, and `/context`. */
export function formatReference({ namespace, name, key, context }: KubeconfigReference): string {
  return [namespace, name, key, ...(context === undefined ? [] : [context])].join('/');
}

/** Reads {@link formatReference}; a context may hold slashes. `undefined` for what is no reference. */
export function parseReference(text: string | undefined): KubeconfigReference | undefined {
  const [namespace = '', name = '', key = '', ...context] = (text ?? '').split('/');
  if (namespace === '' || name === '' || key === '') return undefined;
  return { namespace, name, key, ...(context.length === 0 ? {} : { context: context.join('/') }) };
}
