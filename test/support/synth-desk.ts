/** `muster synth` in this process, in a folder of its own: what it prints, writes and says. */
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, parseAllDocuments } from 'yaml';
import type { KubeObject } from '../../api/resource.ts';
import { createProgram } from '../../cli/program.ts';

export const objectsOf = (text: string): KubeObject[] =>
  parseAllDocuments(text).map((document) => document.toJS() as KubeObject);

export class SynthDesk {
  readonly dir = mkdtempSync(join(tmpdir(), 'muster-synth-'));
  /** Where the runs write to with `--out`. */
  readonly out = join(this.dir, 'out');
  output = '';
  /** What commander says of wrong usage. */
  said = '';

  close(): void {
    rmSync(this.dir, { recursive: true });
  }

  async run(...argv: string[]): Promise<void> {
    const program = createProgram((text) => {
      this.output += text;
    });
    const quiet = { writeErr: (text: string) => void (this.said += text), writeOut: () => undefined };
    const quieten = (command: typeof program): void => {
      command.configureOutput(quiet);
      command.commands.forEach((each) => quieten(each as typeof program));
    };
    quieten(program);
    await program.parseAsync(argv, { from: 'user' });
  }

  /** Writes an input; returns its path. */
  file(name: string, text: string): string {
    const path = join(this.dir, name);
    writeFileSync(path, text);
    return path;
  }

  read(...path: string[]): string {
    return readFileSync(join(this.out, ...path), 'utf8');
  }

  /** Every file below a folder, sorted. */
  tree(folder = this.out): string[] {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
      .sort();
  }

  /** Text of every file, and when it was written. */
  contents(): [path: string, text: string, written: number][] {
    return this.tree().map((path) => [path, this.read(path), statSync(join(this.out, path)).mtimeMs]);
  }

  /** A printed object. */
  find(kind: string, name: string): (KubeObject & { data: Record<string, string> }) | undefined {
    return objectsOf(this.output).find((object) => object.kind === kind && object.metadata.name === name) as
      (KubeObject & { data: Record<string, string> }) | undefined;
  }

  /** What the kustomization of a folder lists. */
  resources(...path: string[]): unknown {
    return (parse(this.read(...path, 'Kustomization')) as { resources: unknown }).resources;
  }
}
