import process from 'node:process';
import { ensureTools } from '../ensure-tools.ts';
import { usualTools, type ToolName } from '../programs.ts';
import type { Task } from './task.ts';

/** Lines of a table with columns as wide as their widest cell. */
export function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  const line = (row: readonly string[]): string => row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}

/** `npm run tools [-- NAME…]`: makes sure that the programs are there and lists them on standard output. */
export const toolsTask: Task = async (args, reporter) => {
  const names = args.length === 0 ? usualTools : (args as readonly ToolName[]);
  const tools = await ensureTools(names, reporter);
  const rows = names.map((name) => [name, tools[name].version, tools[name].origin, tools[name].path]);
  process.stdout.write(table([['PROGRAM', 'VERSION', 'ORIGIN', 'PATH'], ...rows]));
  return 0;
};
