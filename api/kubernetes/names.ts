/** Kubernetes' rules for names. */
import { MusterError } from '../errors.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

/** 1 to 63 lower-case letters, digits and `-`, with a letter or digit at both ends: namespaces, most names. */
export function isDnsLabel(text: string): boolean {
  return text.length <= 63 && LABEL.test(text);
}

/** Labels joined by dots, 253 characters at most: object names. */
export function isDnsSubdomain(text: string): boolean {
  return text.length <= 253 && text.split('.').every((part) => LABEL.test(part));
}

/**
 * Checks a name that a user gave and returns it.
 * @param where path or object that the name belongs to
 * @param rule `label` (namespaces and everything that becomes part of a label; the default) or `subdomain`
 * @throws MusterError INVALID_ARGUMENT
 */
export function checkName(name: string, where: string, rule: 'label' | 'subdomain' = 'label'): string {
  if (rule === 'label' ? isDnsLabel(name) : isDnsSubdomain(name)) return name;
  const limit = rule === 'label' ? 63 : 253;
  const allowed = rule === 'label' ? 'letters, digits and "-"' : 'letters, digits, "-" and "."';
  throw new MusterError('INVALID_ARGUMENT', `${JSON.stringify(name.slice(0, 80))} is not a valid name`, {
    where,
    hint: `Use 1 to ${limit} lower-case ${allowed}, with a letter or digit at both ends.`,
  });
}
