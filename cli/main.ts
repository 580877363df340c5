#!/usr/bin/env node
/** The `muster` command. */
import { dispatch } from './dispatch.ts';

void dispatch(process.argv.slice(2)).then((code) => {
  // Open keep-alive connections must not hold a process that has ended its work.
  process.exit(code);
});
