/**
 * What Pulumi stores in the state as this package's "provider": a handful of one-line functions that load the installed
 * package and pass the call on. No behaviour, no captured value, no secret travels in a state file (decision 0003).
 *
 * The text is what Pulumi's own serializer makes of such an object (stored-text.test.ts compares the two), written down
 * here because making it anew costs every run of every program a tenth of a second. It never changes: states hold it.
 */

/** Evaluated as a CommonJS module of the directory in which `pulumi` runs, whose `require` it uses. */
const load =
  '() => Promise.resolve().then(() => require(`pulumi-muster/provider`).dynamicProvider)' +
  '.catch((e) => Promise.reject(new Error(`[UNSUPPORTED] npm install pulumi-muster in ${process.cwd()} ' +
  '(Node.js ${process.version}, needs 22.18): ${e.message}`)))';

/** Methods of a provider (Pulumi: dynamic.ResourceProvider) with their parameters. */
const methods = {
  configure: ['request'],
  check: ['olds', 'news'],
  diff: ['id', 'olds', 'news'],
  create: ['inputs'],
  read: ['id', 'props'],
  update: ['id', 'olds', 'news'],
  delete: ['id', 'props'],
} as const;

/** `load` comes second, as the serializer numbers functions in the order in which it meets them. */
const numberOf = (index: number): number => (index === 0 ? 1 : index + 2);

export const storedText = [
  'exports.handler = __f0;\n\n',
  `var __provider = {${Object.keys(methods)
    .map((name, index) => `${name}: __f${numberOf(index)}`)
    .join(', ')}};\n`,
  ...functions(),
].join('');

function functions(): string[] {
  const calls = Object.entries(methods).map(([name, parameters], index) => {
    const body = `(${parameters.join(', ')}) => load().then((p) => p.${name}(${parameters.join(', ')}))`;
    return closure(numberOf(index), parameters.length, 'load: __f2', body);
  });
  return [closure(2, 0, '', load), ...calls, closure(0, 0, 'provider: __provider', '() => provider')];
}

/** A function with what it captures, in the serializer's form. */
function closure(number: number, parameters: number, captured: string, body: string): string {
  const names = Array.from({ length: parameters }, (_, index) => `__${index}`).join(', ');
  const scope = [captured, 'this: undefined, arguments: undefined'].filter((part) => part !== '').join(', ');
  return `
function __f${number}(${names}) {
  return (function() {
    with({ ${scope} }) {

return ${body};

    }
  }).apply(undefined, undefined).apply(this, arguments);
}
`;
}
