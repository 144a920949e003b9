// Group sync: many commits share one sync, and commits that arrive while one is running share the next.

export interface GroupSync {
  /** Resolves after a sync that began after this call. Rejects for ever once a sync has failed. */
  synced(): Promise<void>
}

export function createGroupSync(sync: () => Promise<void>): GroupSync {
  let running: Promise<void> | undefined
  let next: Promise<void> | undefined

  // After a failed sync the kernel may have dropped the pages it could not write, so a later success would prove
  // nothing. The failure is therefore kept, and every later call rejects with it.
  let failure: { readonly error: unknown } | undefined

  async function run(): Promise<void> {
    if (failure !== undefined) throw failure.error
    try {
      await sync()
    } catch (error) {
      failure = { error }
      throw error
    }
  }

  function begin(): Promise<void> {
    const started = run()
    running = started
    const ended = (): void => {
      if (running === started) running = undefined
    }
    started.then(ended, ended)
    return started
  }

  return {
    synced() {
      if (running === undefined) return begin()
      next ??= running
        .catch(() => undefined)
        .then(() => {
          next = undefined
          return begin()
        })
      return next
    },
  }
}
