/** The reaper's second half: started by the supervising shell when the test run is gone. Argument: the run's folder. */
import { cleanRun } from './clean.ts';

const runDir = process.argv[2];
if (runDir === undefined) throw new Error('usage: supervise.ts RUN_FOLDER');
await cleanRun(runDir);
