// Steps of a write outside the database: taken before its transaction, and undone if that fails.

/** Restores the earlier state. Never throws: the caller gets the failure that made it necessary. */
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
