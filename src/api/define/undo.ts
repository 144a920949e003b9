// Steps that a write needs outside the database: done before its transaction, and undone when that fails.

/** Brings back what was there before. Never throws: the caller gets the failure that made it necessary. */
export type Undo = () => Promise<void>

export async function orUndo<R>(
  prepared: Promise<Undo | undefined> | undefined,
  write: () => Promise<R>,
): Promise<R> {
  const undo = await prepared
  try {
    return await write()
  } catch (error) {
    await undo?.()
    throw error
  }
}
