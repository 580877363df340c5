/**
 * What Pulumi stores in the state as this package's "provider": a handful of one-line functions that load the installed
 * package and pass the call on. No behaviour, no captured value, no secret travels in a state file (decision 0003).
 *
 * Three things keep the text the same for every build of the package, so that it never shows as a change:
 * every function is an expression on one line, strings are template literals (compilers rewrite quotes, not those), and
 * parameters carry no type annotations.
 */
import type { dynamic } from '@pulumi/pulumi';

type Provider = Required<dynamic.ResourceProvider>;

/** Node's own `require`: the text is evaluated as a CommonJS module of the directory in which `pulumi` runs. */
declare const require: (name: string) => { dynamicProvider: Provider };

/* Not wrapped by the formatter: a line break here would differ between this source and its compiled form. */
// prettier-ignore
const load: () => Promise<Provider> = () => Promise.resolve().then(() => require(`pulumi-muster/provider`).dynamicProvider).catch((e) => Promise.reject(new Error(`[UNSUPPORTED] npm install pulumi-muster in ${process.cwd()} (Node.js ${process.version}, needs 22.18): ${e.message}`)));

/** One object for all resource types: the input `kind` chooses the handler. */
// prettier-ignore
export const storedProvider: dynamic.ResourceProvider = {
  configure: (request) => load().then((p) => p.configure(request)),
  check: (olds, news) => load().then((p) => p.check(olds, news)),
  diff: (id, olds, news) => load().then((p) => p.diff(id, olds, news)),
  create: (inputs) => load().then((p) => p.create(inputs)),
  read: (id, props) => load().then((p) => p.read(id, props)),
  update: (id, olds, news) => load().then((p) => p.update(id, olds, news)),
  delete: (id, props) => load().then((p) => p.delete(id, props)),
};
