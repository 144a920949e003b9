/**
 * Resolves at Ctrl-C, at SIGTERM, when the terminal closes, and when npm has ended, which passes no signal on if it is
 * killed.
 */
export function interruption(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
    if (process.env['npm_lifecycle_event'] === undefined) return
    const parent = process.ppid
    const look = setInterval(() => {
      if (process.ppid === parent) return
      clearInterval(look)
      resolve()
    }, 500)
    look.unref()
  })
}
