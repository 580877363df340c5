/** True when the npm packages in `root` are those of its package-lock.json, Node.js 24 among them. */
export function isInstalled(root: string): boolean;
/** The JSON in a file; undefined when it cannot be read. */
export function readJson(path: string): unknown;
