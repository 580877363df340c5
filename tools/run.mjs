// Every npm script starts here: `node tools/run.mjs TASK ARGS`. Plain JavaScript without dependencies, because on a
// fresh clone there is nothing else, and the machine's own Node.js may be too old for the rest. It installs the npm
// packages when they are not those of package-lock.json, then goes on with the Node.js 24 among them.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import process from 'node:process';
import { setInterval, clearInterval } from 'node:timers';
import { fileURLToPath } from 'node:url';
import { isInstalled, readJson } from './installed.mjs';
import { acquireLock } from './lock.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const binFolder = join(root, 'node_modules', '.bin');
const node = join(binFolder, 'node');

/** While npm is silent, in ms. */
const heartbeatMs = 10_000;

const say = (line) => process.stderr.write(`${line}\n`);

/** Runs a program to its end with our streams; its signals are ours. Resolves with the exit code. */
function run(command, args, env) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: root, env, stdio: 'inherit' });
    // Ctrl-C reaches the child from the terminal; we stay to pass its exit code on.
    const ignore = () => undefined;
    const pass = (signal) => child.kill(signal);
    process.on('SIGINT', ignore).on('SIGTERM', pass).on('SIGHUP', pass);
    child.once('error', reject);
    child.once('close', (code, signal) => {
      process.off('SIGINT', ignore).off('SIGTERM', pass).off('SIGHUP', pass);
      resolve(code ?? 128 + (constants.signals[signal] ?? 0));
    });
  });
}

/** npm's own output goes to standard error: standard output belongs to the task. */
function npmCi() {
  return new Promise((resolve, reject) => {
    const child = spawn('npm', ['ci', '--no-audit', '--no-fund', '--include=dev'], {
      cwd: root,
      stdio: ['ignore', process.stderr, process.stderr],
    });
    child.once('error', reject);
    child.once('close', (code) => resolve(code ?? 1));
  });
}

async function install() {
  const release = await acquireLock(join(root, '.muster', 'npm.lock'), {
    onWait: (pid) => say(`… npm packages: waiting for process ${pid}, which installs them`),
  });
  try {
    if (isInstalled(root)) return;
    const start = Date.now();
    const seconds = () => `${((Date.now() - start) / 1000).toFixed(1)} s`;
    say('… npm packages: installing those of package-lock.json');
    const timer = setInterval(() => say(`… npm packages: installing (${seconds()})`), heartbeatMs);
    const code = await npmCi().finally(() => clearInterval(timer));
    if (code !== 0 || !isInstalled(root)) {
      const hint = 'Look at the network and at the registry that npm is set to; install scripts must be allowed.';
      throw new Error(`npm packages: npm ci ended with code ${code}, what it said is above. ${hint}`);
    }
    say(`✓ npm packages (${seconds()})`);
  } finally {
    await release();
  }
}

const [task, ...args] = process.argv.slice(2);
try {
  if (!isInstalled(root)) await install();
  const env = { ...process.env, PATH: [binFolder, process.env.PATH ?? ''].join(delimiter) };
  const wanted = readJson(join(root, 'node_modules', 'node', 'package.json'))?.version;
  if (process.version === `v${wanted}`) {
    process.env.PATH = env.PATH;
    const { main } = await import('./main.ts');
    process.exitCode = await main(task, args);
  } else {
    process.exitCode = await run(node, [fileURLToPath(import.meta.url), task ?? '', ...args], env);
  }
} catch (error) {
  say(`✗ ${error instanceof Error ? error.message : String(error)}`);
  process.exitCode = 1;
}
