/** Work that several controllers may want at the same time, done once for all of them (Go: singleflight). */

export interface SingleFlight<T> {
  /** The result of the work of that key which is under way, or else of `work`. A failure is everyone's who waits. */
  do(key: string, work: () => Promise<T>): Promise<T>;
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const flights = new Map<string, Promise<T>>();
  return {
    do(key, work) {
      const known = flights.get(key);
      if (known !== undefined) return known;
      const flight = work().finally(() => void flights.delete(key));
      flights.set(key, flight);
      return flight;
    },
  };
}
