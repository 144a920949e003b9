// Waits by turns of the event loop, not by time.

/** Lets everything run that waits for nothing but its turn. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Resolves when what takes a few such turns has come to rest: a hook, its verbs, a leg that they dial. */
export async function calm(turns = 8): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await settle()
}
