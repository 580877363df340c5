/** What `tools/tasks/interop.ts` hands to the tests, which is what its user has given. */
export function given(variable: string): string {
  const value = process.env[variable];
  if (!value) throw new Error(`${variable} is not set: run npm run test:interop, which says what it needs`);
  return value;
}
