// Waits by turns of the event loop, not by time.

/** Lets everything run that waits only for its turn. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Waits this many turns, which is enough for a hook, its verbs, or a leg that they dial. */
export async function calm(turns = 8): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await settle()
}
