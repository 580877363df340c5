/**
 * Manifests as templates of a Helm chart. A template is what was synthesized, with some of its values taken out; nothing
 * here spells a manifest. `$` is the root of the values throughout, because `.` changes inside of `range` and `with`.
 */
import { Document, Scalar, visit } from 'yaml';

type Form = 'scalar' | 'optional-scalar' | 'text' | 'block' | 'optional-block' | 'lines';

/** An expression in place of a value. */
export class Expression {
  readonly form: Form;
  readonly text: string;

  private constructor(form: Form, text: string) {
    this.form = form;
    this.text = text;
  }

  /** `key: {{ text }}` */
  static scalar(text: string): Expression {
    return new Expression('scalar', text);
  }

  /** The same; the key is left out when the value is empty. */
  static optionalScalar(text: string): Expression {
    return new Expression('optional-scalar', text);
  }

  /** A text of several lines. */
  static text(text: string): Expression {
    return new Expression('text', text);
  }

  /** A list or object below its key, as YAML. */
  static block(text: string): Expression {
    return new Expression('block', text);
  }

  /** The same; the key is left out when there is nothing to write. */
  static optionalBlock(text: string): Expression {
    return new Expression('optional-block', text);
  }

  /** Lines of a template below the key: braces and all. */
  static lines(text: string): Expression {
    return new Expression('lines', text);
  }
}

/** Texts of the synthesized objects that are expressions in the chart: placeholder → expression without braces. */
export type Placeholders = Readonly<Record<string, string>>;

/** YAML of a value that has expressions in it; equal values give equal texts. Ends with a line break. */
export function toTemplate(value: unknown, placeholders: Placeholders = {}): string {
  const expressions: Expression[] = [];
  const document = new Document(mark(value, expressions), { version: '1.1', aliasDuplicateObjects: false });
  const isPlaced = (text: string): boolean => Object.keys(placeholders).some((key) => text.includes(key));
  visit(document, {
    Scalar(_, node) {
      // A namespace may be called `on` or `123`: quoted, it is a text whatever is put in.
      if (typeof node.value === 'string' && isPlaced(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  // Braces of the manifests themselves are no expressions.
  const text = document.toString({ lineWidth: 0 }).replaceAll('{{', '{{ "{{" }}');
  return withPlaceholders(withExpressions(text, expressions), placeholders);
}

/** A raw string of Go's templates. Throws when it cannot be one, which no manifest of ours is. */
export function raw(text: string): string {
  if (text.includes('`')) throw new TypeError('a backquote cannot stand in a raw string');
  return `\`${text}\``;
}

/** A copy in which each expression is a text that can be found again. */
function mark(value: unknown, expressions: Expression[]): unknown {
  if (value instanceof Expression) return `helm-expression-${expressions.push(value) - 1}-`;
  if (Array.isArray(value)) return value.map((item) => mark(item, expressions));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mark(item, expressions)]));
}

function withExpressions(text: string, expressions: readonly Expression[]): string {
  return text.replaceAll(
    /^( *(?:- )*)([^\n]*?)helm-expression-(\d+)-$/gm,
    (line, lead: string, key: string, index: string) => {
      const expression = expressions[Number(index)];
      return expression === undefined ? line : written(expression, lead, key);
    },
  );
}

/** @param lead indentation, and dashes of lists that begin here; @param key `key: `, or nothing for an item of a list */
function written({ form, text }: Expression, lead: string, key: string): string {
  const name = `${lead}${key.trimEnd()}`;
  const indent = ' '.repeat(lead.length);
  const below = `${indent}  `;
  switch (form) {
    case 'scalar':
      return `${lead}${key}{{ ${text} }}`;
    case 'optional-scalar':
      return [`${indent}{{- with ${text} }}`, `${name} {{ . | quote }}`, `${indent}{{- end }}`].join('\n');
    case 'text':
      return `${name} |-\n${below}{{- ${text} | nindent ${below.length} }}`;
    case 'block':
      return `${name}\n${below}{{- toYaml ${text} | nindent ${below.length} }}`;
    case 'optional-block':
      return [
        `${indent}{{- with ${text} }}`,
        name,
        `${below}{{- toYaml . | nindent ${below.length} }}`,
        `${indent}{{- end }}`,
      ].join('\n');
    case 'lines':
      return `${name}\n${text.trimEnd().replaceAll(/^(?=.)/gm, below)}`;
  }
}

function withPlaceholders(text: string, placeholders: Placeholders): string {
  // The longest first: one may be part of another.
  const byLength = Object.entries(placeholders).sort(([a], [b]) => b.length - a.length);
  return byLength.reduce((result, [key, expression]) => result.replaceAll(key, `{{ ${expression} }}`), text);
}
