/** Columns of `kubectl get` that several kinds show. */
import type { PrinterColumn } from '../define-resource.ts';

export const readyColumn: PrinterColumn = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: 'Whether everything that should be there is there and ready.',
};

export const statusColumn: PrinterColumn = {
  name: 'Status',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].message',
  description: 'What is missing, if anything.',
};

export const ageColumn: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
