/** What a user of a chart can set: defaults, comments and schema, from one table. */
import { stringify } from 'yaml';

/** One value. */
export interface ChartValue {
  readonly name: string;
  /** Default. */
  readonly value: unknown;
  /** A sentence for the comment and the schema. */
  readonly about: string;
  /** JSON schema, without the description. */
  readonly schema: Readonly<Record<string, unknown>>;
}

/** values.yaml: each value with what it is above it. */
export function valuesYaml(values: readonly ChartValue[]): string {
  return values
    .map(({ name, value, about }) => `# ${about}\n${stringify({ [name]: value }, { version: '1.1', lineWidth: 0 })}`)
    .join('\n');
}

/** values.schema.json: helm refuses a value that no template reads. */
export function valuesSchema(values: readonly ChartValue[]): string {
  const properties = values.map(({ name, about, schema }) => [name, { description: about, ...schema }]);
  const schema = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    additionalProperties: false,
    // Helm hands `global` to every chart.
    properties: { ...Object.fromEntries(properties), global: { type: 'object' } },
  };
  return `${JSON.stringify(schema, null, 2)}\n`;
}

export const text = { type: 'string' };
export const texts = { type: 'array', items: text };
export const object = { type: 'object' };
export const objects = { type: 'array', items: object };

/** Of every chart that has an agent. */
export const lockDefaultAccount: ChartValue = {
  name: 'lockDefaultAccount',
  value: false,
  about:
    'Take the token from pods that name no account, in the namespace of the agent. Kubernetes made that account, so helm needs --take-ownership.',
  schema: { type: 'boolean' },
};
